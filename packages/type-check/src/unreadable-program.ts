/** Thrown for a program that is too deep or too large to be parsed. Its message continues a sentence. */
export class UnreadableProgram extends Error {}
