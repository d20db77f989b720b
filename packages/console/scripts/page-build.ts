import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

const page = path.resolve(import.meta.dirname, "../page");

/** Bundles the page into a folder. Names of files carry digests of their contents, so that browsers may keep them. */
export async function buildPage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [path.join(page, "main.tsx"), path.join(page, "main.css")],
    outdir: folder,
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome125", "firefox128", "safari17.5"],
    legalComments: "eof",
    metafile: true,
    tsconfig: path.join(page, "tsconfig.json"),
  });
  const names = Object.keys(metafile.outputs).map((file) => path.basename(file));
  const html = await readFile(path.join(page, "index.html"), "utf8");
  const linked = html.replaceAll(/"(main)(\.css|\.js)"/g, (_, name: string, ending: string) => {
    const built = names.find((one) => one.startsWith(`${name}-`) && one.endsWith(ending));
    if (built === undefined) throw new Error(`The page's ${name}${ending} was not built.`);
    return `"${built}"`;
  });
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "index.html"), linked);
  await writeFile(path.join(folder, "icon.svg"), await readFile(path.join(page, "icon.svg")));
}
