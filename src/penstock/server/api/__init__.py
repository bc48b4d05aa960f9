"""The paths of the API, one file for what they are about."""
