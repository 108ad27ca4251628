"""What a world and a method say to each other: Method, Detector, Traits, Query, Frame, Overlay."""
