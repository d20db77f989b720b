import { SETTINGS, variablesInWords } from "../src/settings.ts";

const START = "<!-- settings: written by `pnpm generate` -->";
const END = "<!-- /settings -->";

/** A Markdown table of every setting. */
export function settingsTable(): string {
  const rows = SETTINGS.map(({ path, default: standard, allowed, description, pending }) => {
    const value =
      standard === undefined
        ? "unset"
        : `\`${typeof standard === "string" ? standard : JSON.stringify(standard)}\``;
    const named = variablesInWords(path).replaceAll(/[A-Z_]{2,}/g, "`$&`");
    const note = pending === undefined ? "" : ` _No effect yet: ${pending}._`;
    return [`\`${path}\``, value, allowed, named, `${description}${note}`];
  });
  const head = ["setting", "default", "takes", "variable", "what it does"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Puts the table between its markers. */
export function withSettingsTable(readme: string): string {
  const before = readme.slice(0, readme.indexOf(START));
  const after = readme.slice(readme.indexOf(END));
  return `${before}${START}\n\n${settingsTable()}\n\n${after}`;
}
