"""The data plane: Celery workers that claim attempts in Postgres and run them."""
