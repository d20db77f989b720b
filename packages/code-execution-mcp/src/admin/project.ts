import { lstat, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/**
 * The module that programs import what the sandbox gives from, for editors and compilers: in the sandbox a module of its
 * own stands there.
 */
async function renderClient(): Promise<string> {
  const { GUEST_CLIENT_DECLARATIONS } = await import("@cem/sandbox-deno");
  const text = GUEST_CLIENT_DECLARATIONS.replaceAll(
    /^export declare function (\w+).*$/gmu,
    (signature, name: string) => `${signature}
export function ${name}(): never {
  return outside("${name}");
}`,
  )
    .replaceAll("export declare ", "export ")
    .replace(/class ToolError [^}]*/u, (members) => members.replaceAll("readonly", "declare readonly"));
  return `${text}
function outside(name: string): never {
  throw new Error(\`\${name} works in the sandbox only: cem exec <file>\`);
}
`;
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "ES2023",
    "lib": ["ES2023", "DOM", "DOM.Iterable"],
    "module": "ESNext",
    "moduleResolution": "bundler",
    "strict": true,
    "noEmit": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true
  },
  "include": ["*.ts", "client", "servers", "skills"]
}
`;

const GITIGNORE = `# Keys and tokens
.env
# Files of runs, caches and installed packages
workspace/
workspaces/
.cem/
.tool_cache.json
node_modules/
`;

const CLIENT_FILE = "client/index.ts";
const SETTINGS_FILES = { "tsconfig.json": TSCONFIG, ".gitignore": GITIGNORE };

/** Files that were created, and existing files that were kept. */
export type LaidFiles = Record<"made" | "kept", string[]>;

/**
 * Writes the files that an editor needs to understand the tools of a project, and ignore rules for version control.
 * Existing files are not changed.
 *
 * @param only - `client`: only the module that generated tools import, no project settings.
 * @throws the file system's error.
 */
export async function layProjectFiles(root: string, only?: "client"): Promise<LaidFiles> {
  const client = { [CLIENT_FILE]: await renderClient() };
  return layFiles(root, only === "client" ? client : { ...client, ...SETTINGS_FILES });
}

/** Writes files by their paths below a folder. Existing files are not changed. @throws the file system's error. */
export async function layFiles(
  root: string,
  files: Readonly<Record<string, string>>,
  mode?: number,
): Promise<LaidFiles> {
  const laid: LaidFiles = { made: [], kept: [] };
  for (const [name, text] of Object.entries(files))
    ((await makeFile(root, name, { text, mode })) ? laid.made : laid.kept).push(name);
  return laid;
}

/** Does not follow links, which may lead out of the project. */
async function makeFile(
  root: string,
  name: string,
  { text, mode }: { text: string; mode: number | undefined },
): Promise<boolean> {
  const file = path.join(root, name);
  const folder = path.dirname(file);
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isSymbolicLink() === true && folder !== root) return false;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(file, text, { flag: "wx", mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}
