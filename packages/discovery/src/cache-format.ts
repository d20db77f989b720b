/** Changes whenever what is read from a file, or how it is stored, changes. */
export const FORMAT = "cem-discovery-2";
