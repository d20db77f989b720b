import { readFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";

const page = path.resolve(import.meta.dirname, "../page");

/** Bundles the page: its files by name. Names carry digests of their contents, so that browsers may keep them. */
export async function bundlePage(): Promise<Map<string, Buffer>> {
  const { outputFiles } = await build({
    entryPoints: [path.join(page, "main.tsx"), path.join(page, "main.css")],
    outdir: page,
    entryNames: "[name]-[hash]",
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome125", "firefox128", "safari17.5"],
    legalComments: "eof",
    write: false,
    tsconfig: path.join(page, "tsconfig.json"),
  });
  const files = new Map(outputFiles.map((file) => [path.basename(file.path), Buffer.from(file.contents)]));
  const html = await readFile(path.join(page, "index.html"), "utf8");
  const linked = html.replaceAll(/"(main)(\.css|\.js)"/g, (_, name: string, ending: string) => {
    const built = [...files.keys()].find((one) => one.startsWith(`${name}-`) && one.endsWith(ending));
    if (built === undefined) throw new Error(`The page's ${name}${ending} was not built.`);
    return `"${built}"`;
  });
  files.set("index.html", Buffer.from(linked));
  return files.set("icon.svg", await readFile(path.join(page, "icon.svg")));
}
