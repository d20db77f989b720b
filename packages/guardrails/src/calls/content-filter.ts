/**
 * Filters content.
 *
 * @returns what is unwanted in the text, as a noun phrase; `undefined` where nothing is.
 */
export type ContentFilter = (text: string, call: { server: string; tool: string }) => string | undefined;

const START = String.raw`^\s*(?:(?:sudo|exec|nohup|env|time)\s+)*(?:(?:ba|z|da)?sh\s+-\w*c\s+["']?)?`;

/** Each pattern matches where the text is the command, not where it speaks of it. */
const COMMANDS: readonly { what: string; pattern: RegExp }[] = [
  {
    what: "a command that deletes a whole file system",
    pattern: new RegExp(
      `${START}rm\\s+(?:-{1,2}[\\w-]+\\s+)*(?:-{1,2}[\\w-]+\\s+)(?:/|~|/\\*|\\$HOME)\\s*(?:$|[;&|"'])`,
    ),
  },
  {
    what: "a command that overwrites a disk",
    pattern: new RegExp(
      `${START}(?:dd\\s[^\\n]{0,200}\\bof=/dev/(?:sd|hd|nvme|vd|disk|mmc)|mkfs(?:\\.\\w+)?\\s+(?:-\\S+\\s+)*/dev/)`,
    ),
  },
  { what: "a fork bomb", pattern: /^\s*(?:\w+|:)\(\)\s*\{\s*(\w+|:)\s*\|\s*\1\s*&\s*\}\s*;\s*\1/ },
  {
    what: "a command that opens a shell to another machine",
    pattern: new RegExp(
      `${START}(?:(?:ba|z|da)?sh\\s+-i\\s*>&\\s*/dev/(?:tcp|udp)/|(?:nc|ncat|netcat)\\s[^\\n]{0,200}\\s-\\w*[ec]\\s*\\S*sh\\b)`,
    ),
  },
];

/** The default content filter: commands that destroy a machine or open it to others, where they are all that a text is. */
export const findUnwanted: ContentFilter = (text) => {
  if (text.length < 8) return undefined;
  return COMMANDS.find(({ pattern }) => pattern.test(text))?.what;
};
