/**
 * Copies the libraries that sample servers carry with them, since code in the sandbox can't import packages.
 *
 *     node scripts/vendor.ts           copies
 *     node scripts/vendor.ts --check   exits with 1 if a copy differs from the installed package
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const require = createRequire(import.meta.url);

/** The package's own folder, whatever its `exports` let through. */
const jsep = dirname(dirname(dirname(require.resolve("jsep"))));

const copies = [
  { from: join(jsep, "dist/jsep.js"), to: "servers/calculator/vendor/jsep.js" },
  { from: join(jsep, "LICENSE"), to: "servers/calculator/vendor/LICENSE" },
];

const isCheck = process.argv.includes("--check");
for (const { from, to } of copies) {
  const wanted = await readFile(from);
  const target = join(root, to);
  if (isCheck) {
    const found = await readFile(target).catch(() => null);
    if (found?.equals(wanted)) continue;
    console.error(`${to} differs from the installed package. Run: node scripts/vendor.ts`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, wanted);
    console.log(`${to} copied`);
  }
}
