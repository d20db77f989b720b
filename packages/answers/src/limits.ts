/** A value with longer JSON is kept as a result and replaced by a handle. */
export const MAX_VALUE_CHARACTERS = 32 * 1024;
/** Longer output is kept as a result; its beginning and end are shown. */
export const MAX_OUTPUT_CHARACTERS = 16 * 1024;
/** The size of one image, sound or file in an answer. */
export const MAX_ATTACHMENT_BYTES = 1024 * 1024;
/** The size of all images, sounds and files in an answer. */
export const MAX_ATTACHMENTS_BYTES = 4 * 1024 * 1024;
export const MAX_ATTACHMENTS = 8;
