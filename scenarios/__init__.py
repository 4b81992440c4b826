"""The library of scenarios that comes with Passgrid: suites, prompts, recordings and demo servers."""
