import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { defineConfig } from "vitepress";

const docs = path.resolve(import.meta.dirname, "..");
const REPOSITORY = "https://github.com/cem-project/code-execution-mcp";

/** The pages of a folder with their own titles, in the order of their names. */
function pagesOf(folder: string): { text: string; link: string }[] {
  return globSync(`${folder}/*.md`, { cwd: docs })
    .toSorted()
    .map((file) => {
      const [, text = file] = /^# (.+)$/mu.exec(readFileSync(path.join(docs, file), "utf8")) ?? [];
      return { text: text.replaceAll("`", ""), link: `/${file.replace(/(?:README)?\.md$/u, "")}` };
    });
}

/** Links that lead out of `docs` stand for files of the repository. */
function outside(url: string, page: string): string {
  if (!/^\.{1,2}\//u.test(url)) return url;
  const target = path.join("docs", path.dirname(page), url);
  return target.startsWith("docs/") ? url : `${REPOSITORY}/blob/main/${target}`;
}

export default defineConfig({
  title: "Code Execution MCP",
  description: "Agents write TypeScript against tools that are files; the code runs in a sandbox.",
  cleanUrls: true,
  ignoreDeadLinks: "localhostLinks",
  srcExclude: ["node_modules/**", ".cem/**"],
  rewrites: { "adr/README.md": "adr/index.md", "reference/README.md": "reference/index.md" },
  markdown: {
    // Braces are those of code.
    attrs: { disable: true },
    config: (markdown) => {
      markdown.renderer.rules["code_inline"] = (tokens, at) =>
        `<code v-pre>${markdown.utils.escapeHtml(tokens[at]?.content ?? "")}</code>`;
      markdown.core.ruler.push("outside", ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const url = token.attrGet("href");
          if (token.type === "link_open" && url !== null) {
            token.attrSet("href", outside(url, String((env as { relativePath?: string }).relativePath)));
          }
        }
      });
    },
  },
  themeConfig: {
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    nav: [
      { text: "Tutorial", link: "/tutorial/first-server" },
      { text: "How to", link: "/how-to/approvals" },
      { text: "Reference", link: "/reference/commands" },
      { text: "Explanation", link: "/architecture" },
    ],
    sidebar: [
      { text: "Tutorial", items: pagesOf("tutorial") },
      { text: "How to", items: pagesOf("how-to") },
      { text: "Reference", items: [...pagesOf("reference"), { text: "Benchmarks", link: "/benchmarks" }] },
      {
        text: "Explanation",
        items: [
          { text: "Architecture", link: "/architecture" },
          { text: "Scale", link: "/scale" },
          ...pagesOf("explanation"),
          { text: "Decisions", link: "/adr/" },
        ],
      },
    ],
  },
});
