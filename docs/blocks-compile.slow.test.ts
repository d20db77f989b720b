import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { blocksOf, DOCUMENTS, fileNameOf, root } from "./scripts/blocks.ts";
import type { Block } from "./scripts/blocks.ts";

const folder = path.join(root, "docs/.cem/blocks");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The module that generated tool files import. */
const CLIENT = `export declare function callTool<T>(server: string, tool: string, input: unknown): Promise<T>;
`;

/** A block without an import or export goes on where those before it on the page ended. */
function moduleOf({ code, document, line }: Block): string {
  const isModule = (text: string): boolean => /^(?:import|export) /mu.test(text);
  if (isModule(code)) return code;
  const before = blocksOf(document).filter((one) => one.language === "ts" && one.line < line);
  const begun = before.findLastIndex((one) => isModule(one.code));
  const parts = before
    .slice(Math.max(begun, 0))
    .map((one) => (isModule(one.code) ? one.code : `{\n${one.code}}\n`));
  return `${parts.join("")}{\n${code}}\nexport {};\n`;
}

it("the blocks of the pages compile, where they are TypeScript", () => {
  rmSync(folder, { recursive: true, force: true });
  for (const block of DOCUMENTS.flatMap(blocksOf).filter(({ language }) => language === "ts")) {
    const place = path.join(folder, block.document.replaceAll(/[/.]/gu, "-"));
    const file = path.join(place, fileNameOf(block));
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, moduleOf(block));
  }
  // The tools that pages import; a page with tools of its own has those.
  for (const place of readdirSync(folder)) {
    for (const name of ["servers", "skills"]) {
      const link = path.join(folder, place, name);
      if (!existsSync(link)) symlinkSync(path.join(root, name), link);
    }
    mkdirSync(path.join(folder, place, "client"), { recursive: true });
    writeFileSync(path.join(folder, place, "client/index.ts"), CLIENT);
  }
  const bundled = path.join(folder, "docs-how-to-nextjs-md");
  const lenient = { noUnusedLocals: false, noPropertyAccessFromIndexSignature: false };
  const extended = path.join(root, "tsconfig.base.json");
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ extends: extended, compilerOptions: lenient, include: ["**/*.ts"], exclude: [bundled] }),
  );
  // As `next build` sets it, which takes no file endings in imports. The packages' own have them here.
  const ofNext = { module: "ESNext", moduleResolution: "bundler", allowImportingTsExtensions: false };
  writeFileSync(
    path.join(bundled, "tsconfig.json"),
    JSON.stringify({
      extends: extended,
      compilerOptions: { ...lenient, ...ofNext },
      include: ["*.ts", "app/**/*.ts", "lib/**/*.ts"],
    }),
  );
  const tsc = path.join(root, "node_modules/@typescript/native/bin/tsc");
  const problemsIn = (cwd: string): string[] =>
    spawnSync(process.execPath, [tsc, "-p", cwd], { cwd, encoding: "utf8" }).stdout.split("\n");
  expect(problemsIn(folder)).toEqual([""]);
  expect(problemsIn(bundled).filter((line) => !line.startsWith(".."))).toEqual([""]);
});
