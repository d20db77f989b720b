/** One simple command of a line of shell, without its variables, redirections and comments. */
export type ShellCommand = readonly string[];

const OPERATORS = new Set(["&&", "||", "|", ";", "&"]);

/** Splits a script into its simple commands: what the pages use of a shell, and no more. */
export function commandsOf(script: string): ShellCommand[] {
  const lines = withoutHereDocuments(script).replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => commandsOfLine(wordsOf(line)));
}

function withoutHereDocuments(script: string): string {
  return script.replaceAll(/<<'?(\w+)'?(.*)\n[^]*?\n\1$/gmu, "$2");
}

function commandsOfLine(words: readonly string[]): ShellCommand[] {
  const commands: string[][] = [[]];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (OPERATORS.has(word)) commands.push([]);
    else if (/^\d?>>?$/u.test(word) || word === "<") at += 1;
    else commands.at(-1)?.push(word);
  }
  return commands
    .map((command) => command.slice(command.findIndex((word) => !/^[A-Z_]+=/u.test(word))))
    .filter((command) => command.length > 0);
}

/** The words of a line, with quotes taken off and what stands behind ` #` left out. */
export function wordsOf(line: string): string[] {
  const words: string[] = [];
  const token =
    /\s+|#.*$|&&|\|\||[|;&]|\d?>>?(?!\()|(?:"(?:[^"\\]|\\.)*"|'[^']*'|<[\w. -]+>|<\([^)]*\)|\\.|[^\s"'|;&>])+/gu;
  for (const [text] of line.matchAll(token)) {
    if (text.startsWith("#")) break;
    if (text.trim() !== "") words.push(text.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'/gu, "$1$2"));
  }
  return words;
}
