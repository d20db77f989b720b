/** The content of a docstring, by the sections that Google's, NumPy's and Sphinx's styles have. */
export interface Docstring {
  /** Everything before the sections. */
  summary: string;
  parameters: ReadonlyMap<string, string>;
  returns: string;
}

const SECTION =
  /^(?<name>Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Examples?|Notes?|See Also|Attributes|References):?\s*$/iu;
/** Reads the docstring of a function. */
export function parseDocstring(text: string): Docstring {
  const parameters = new Map<string, string>();
  const summary: string[] = [];
  const returns: string[] = [];
  let section = "";
  let current = "";
  let depth = 0;
  const lines = text.split("\n");
  for (const [at, line] of lines.entries()) {
    const heading = SECTION.exec(line)?.groups?.["name"]?.toLowerCase();
    if (heading !== undefined && (line.trimEnd().endsWith(":") || /^-{3,}\s*$/u.test(lines[at + 1] ?? ""))) {
      section = heading;
      current = "";
      continue;
    }
    if (/^-{3,}\s*$/u.test(line) && section !== "") continue;
    const field = fieldOf(line.trim());
    if (field !== undefined) {
      section = "fields";
      current = /^(?:param|parameter|arg)$/u.test(field.kind) ? field.name : "";
      if (current !== "") add(parameters, current, field.text);
      else if (/^returns?$/u.test(field.kind)) returns.push(field.text);
    } else if (section === "") summary.push(line);
    else if (/^(?:arg|param)/u.test(section)) {
      const { name, about } = entryOf(line);
      const indent = line.length - line.trimStart().length;
      if (name !== "" && (current === "" || indent <= depth)) {
        [current, depth] = [name, indent];
        parameters.set(name, isNumPy(lines, section) ? "" : about.trim());
      } else if (current !== "") add(parameters, current, line.trim());
    } else if (/^(?:return|yield)/u.test(section)) returns.push(line.trim());
    else if (section === "fields" && current !== "" && line.trim() !== "")
      add(parameters, current, line.trim());
  }
  return {
    summary: summary.join("\n").trim(),
    parameters,
    returns: returns.join(" ").replaceAll(/\s+/gu, " ").trim(),
  };
}

function add(parameters: Map<string, string>, name: string, more: string): void {
  parameters.set(name, `${parameters.get(name) ?? ""} ${more}`.trim());
}

/** Under NumPy's headings the text after the colon is the type. */
function isNumPy(lines: readonly string[], section: string): boolean {
  const at = lines.findIndex((line) => SECTION.exec(line)?.groups?.["name"]?.toLowerCase() === section);
  return /^-{3,}\s*$/u.test(lines[at + 1] ?? "");
}

/** `:param str name: text`, as Sphinx has it. */
function fieldOf(line: string): { kind: string; name: string; text: string } | undefined {
  const end = line.indexOf(":", 1);
  if (!line.startsWith(":") || end === -1) return undefined;
  const [kind = "", ...words] = line.slice(1, end).trim().split(" ");
  if (!/^(?:param|parameter|arg|returns?|rtype|raises?|type)$/u.test(kind)) return undefined;
  return { kind, name: words.at(-1) ?? "", text: line.slice(end + 1).trim() };
}

/** `name (type): text` as Google has it, `name : type` as NumPy has it. */
function entryOf(line: string): { name: string; about: string } {
  const at = line.indexOf(":");
  const head = line
    .slice(0, Math.max(at, 0))
    .trim()
    .replace(/^\*{1,2}/u, "");
  const name = /^\w+/u.exec(head)?.[0] ?? "";
  const type = head.slice(name.length).trim();
  const isEntry = type === "" || (type.startsWith("(") && type.endsWith(")"));
  return { name: isEntry ? name : "", about: line.slice(at + 1).trim() };
}

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
