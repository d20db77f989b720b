import type { ExportAllDeclaration, ExportNamedDeclaration, ImportDeclaration } from "@babel/types";
import { nameOf, namesOf, type ImportedName } from "./imports.ts";

const LINE_BREAK = /\r\n|[\n\r\u2028\u2029]/g;

/** Collects edits of a source text that keep the number of every line, and columns where the new text fits. */
export type SourceEdits = ReturnType<typeof editSource>;

export function editSource(source: string) {
  const edits: { start: number; end: number; text: string }[] = [];
  return {
    /** Replaces a range. The text is padded to the range's width, or followed by the range's line breaks if it has any. */
    overwrite(start: number, end: number, text = ""): void {
      const breaks = source.slice(start, end).match(LINE_BREAK)?.join("") ?? "";
      edits.push({ start, end, text: breaks === "" ? text.padEnd(end - start) : text + breaks });
    },
    insert: (position: number, text: string): void =>
      void edits.push({ start: position, end: position, text }),
    toString(): string {
      const ordered = edits.toSorted((one, other) => one.start - other.start || one.end - other.end);
      const parts: string[] = [];
      let position = 0;
      for (const { start, end, text } of ordered) {
        parts.push(source.slice(position, start), text);
        position = end;
      }
      return [...parts, source.slice(position)].join("");
    },
  };
}

export interface PlannedImport {
  specifier: string;
  attributes: Record<string, string>;
  names: ImportedName[];
}

/**
 * Determines the import that a declaration needs at run time. Names that are only used as types are left out, as in TypeScript.
 *
 * @param used - The names that the program refers to at run time.
 * @param ofDefault - The variable for the value that is re-exported as `default`.
 */
export function planImport(
  declaration: ImportDeclaration | ExportNamedDeclaration | ExportAllDeclaration,
  used: ReadonlySet<string>,
  ofDefault: string,
): PlannedImport | undefined {
  const all = namesOf(declaration).filter((name) => !name.typeOnly);
  const names = all.filter((name) => name.local === undefined || used.has(name.local));
  const isImport = declaration.type === "ImportDeclaration";
  const typeOnly = (isImport ? declaration.importKind : declaration.exportKind) === "type";
  const forEffect = isImport && declaration.specifiers.length === 0;
  if (typeOnly || (names.length === 0 && !forEffect)) return undefined;
  if (declaration.type === "ExportNamedDeclaration") {
    for (const [index, specifier] of declaration.specifiers.entries()) {
      const source = names[index];
      if (nameOf(specifier.exported) === "default" && source !== undefined) source.local = ofDefault;
    }
  }
  const attributes = Object.fromEntries(
    (declaration.attributes ?? []).map(({ key, value }) => [nameOf(key), value.value]),
  );
  return { specifier: declaration.source?.value ?? "", attributes, names };
}

/** Emits one statement on one line that loads all imports and binds their names. Empty when there are none. */
export function emitImports(planned: readonly PlannedImport[], runtime: string): string {
  if (planned.length === 0) return "";
  const requests = planned.map(({ specifier, attributes, names }) => ({
    specifier,
    attributes,
    names: names
      .filter((name) => name.imported !== "*")
      .map(({ imported, line, column }) => ({ name: imported, line, column })),
    // Set if the whole module is imported in addition to some of its names.
    whole: names.length > 1 && names.some((name) => name.imported === "*") ? true : undefined,
  }));
  const modules = `${runtime}m`;
  const binds = planned.flatMap(({ names }, index) => {
    const named = names.filter((name) => name.imported !== "*" && name.local !== undefined);
    const bound = named.map(({ local, imported }) =>
      local === imported ? imported : `${JSON.stringify(imported)}: ${local}`,
    );
    const whole = names.filter((name) => name.imported === "*" && name.local !== undefined);
    return [
      ...(named.length > 0 ? [`{ ${bound.join(", ")} } = ${modules}[${index}]`] : []),
      ...whole.map((name) => `${name.local} = ${modules}[${index}]`),
    ];
  });
  const load = `${modules} = await ${runtime}.import(${JSON.stringify(requests)})`;
  return `const ${[load, ...binds].join(", ")};`;
}
