"""First times at which faces on lines and screws come near: never missed or late."""
