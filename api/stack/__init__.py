"""The stack Passgrid runs on: Postgres, a broker and our services, embedded or external."""
