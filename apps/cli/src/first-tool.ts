export const FIRST_SERVER = "greeter";
/** The task that `cem init` suggests to run first. */
export const FIRST_TASK = "Greet the person named Ada";

const GREET = `/**
 * Greets a person by name.
 *
 * @param input.name - Who to greet, for example "Ada".
 * @returns The greeting.
 */
export async function greet(input: { name: string }): Promise<string> {
  return \`Hello, \${input.name}!\`;
}
`;

const INDEX = `/** Greets people: a first server to copy from. */
export { greet } from "./greet.ts";
`;

/** The files of a first server, by path. */
export const FIRST_TOOL_FILES: Readonly<Record<string, string>> = {
  [`servers/${FIRST_SERVER}/greet.ts`]: GREET,
  [`servers/${FIRST_SERVER}/index.ts`]: INDEX,
};
