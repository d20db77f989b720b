const LITERAL = /^(?<prefix>[rRuUbB]*)(?<quote>"""|'''|"|')(?<content>[\s\S]*)\k<quote>$/u;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", "\n": "" };

/** The text of a string literal in Python, with the indentation of a docstring taken off. */
export function unquotePython(literal: string): string {
  const { prefix = "", content = "" } = LITERAL.exec(literal)?.groups ?? {};
  const isRaw = prefix.toLowerCase().includes("r");
  const text = isRaw
    ? content
    : content.replaceAll(/\\([\s\S])/gu, (whole, letter: string) =>
        /["'\\]/u.test(letter) ? letter : (ESCAPES[letter] ?? whole),
      );
  return dedent(text.replaceAll("\r\n", "\n"));
}

/** Takes off the indentation that all lines but the first have. */
function dedent(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const indents = rest
    .filter((line) => line.trim() !== "")
    .map((line) => line.length - line.trimStart().length);
  const indent = indents.length === 0 ? 0 : Math.min(...indents);
  return [first.trim(), ...rest.map((line) => line.slice(indent).trimEnd())].join("\n").trim();
}
