"""Interface of world and method: Method, Detector, Traits, Query, Frame, Overlay."""
