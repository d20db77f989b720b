import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const SOURCE = "src";
/** An import of a declaration from a file beside it. */
const IMPORT = /(\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)\.ts"/gu;

/** The package that a line of a declaration imports from. */
const PACKAGE = /(?:\bfrom |\bimport\()"((?:@[^/"]+\/)?[^/"]+)/;

/**
 * Writes the declarations of the entries, and of what they import, with the native compiler: a file for each source file.
 * Declarations of other packages are taken from their builds, as for those who install them.
 */
export function declarations(entry: NonNullable<Options["entry"]>): Plugin {
  const entries = Array.isArray(entry)
    ? entry.map((file) => [path.relative(SOURCE, file).replace(/\.ts$/u, ""), file] as const)
    : Object.entries(entry);
  return {
    name: "declarations",
    setup(build) {
      const { outdir = "dist" } = build.initialOptions;
      build.onEnd(async () => {
        const folder = mkdtempSync(path.resolve(".declarations-"));
        try {
          await compile(
            folder,
            entries.map(([, file]) => file),
          );
          for (const [name, file] of entries) keep(folder, outdir, name, path.relative(SOURCE, file));
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      });
    },
  };
}

async function compile(folder: string, entries: readonly string[]): Promise<void> {
  const project = path.join(folder, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    // The lint finds errors of types, in all sources at once: here they would take most of a build.
    noCheck: true,
    customConditions: [],
    rootDir: path.resolve(SOURCE),
    outDir: path.join(folder, "out"),
  };
  const files = entries.map((file) => path.resolve(file));
  writeFileSync(
    project,
    JSON.stringify({ extends: path.resolve("tsconfig.json"), compilerOptions, files, include: [] }),
  );
  const manifest = createRequire(path.resolve("package.json")).resolve("@typescript/native/package.json");
  try {
    await promisify(execFile)(process.execPath, [
      path.join(path.dirname(manifest), "bin/tsc"),
      "-p",
      project,
    ]);
  } catch (error) {
    throw new Error(`No declarations: ${(error as { stdout?: string }).stdout}`, { cause: error });
  }
}

/** Puts the declarations of an entry, and those that it imports, to the built files. */
function keep(folder: string, outdir: string, name: string, entry: string): void {
  const first = entry.replace(/\.ts$/u, "");
  const { peerDependenciesMeta = {} } = JSON.parse(readFileSync("package.json", "utf8")) as {
    peerDependenciesMeta?: object;
  };
  // A project that lacks an optional package gets `any` from it, not an error in a file that is not its own.
  const tolerant = (line: string): string =>
    (PACKAGE.exec(line)?.[1] ?? "") in peerDependenciesMeta && !line.trim().startsWith("*")
      ? `// @ts-ignore: the package is optional\n${line}`
      : line;
  const emitted = (one: string): string => path.join(folder, "out", `${one}.d.ts`);
  const waiting = new Set([first]);
  for (const one of waiting) {
    const text = readFileSync(emitted(one), "utf8").replace(
      IMPORT,
      (found: string, before: string, file: string) => {
        const imported = path.posix.join(path.posix.dirname(one), file);
        // Else it is an example in a comment.
        if (!existsSync(emitted(imported))) return found;
        waiting.add(imported);
        return `${before}"${file}.js"`;
      },
    );
    write(outdir, one, text.split("\n").map(tolerant).join("\n"));
  }
  if (name !== first) write(outdir, name, `export * from "./${first}.js";\n`);
}

function write(outdir: string, name: string, text: string): void {
  const file = path.join(outdir, `${name}.d.ts`);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
