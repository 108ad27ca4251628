"""Collision by rendering (Baciu, Wong and Sun 1998, RECODE): solids compared pixel by pixel where they may overlap."""
