"""What a method and a world say to each other: Method, Detector, Traits, Query, Frame, Overlay."""
