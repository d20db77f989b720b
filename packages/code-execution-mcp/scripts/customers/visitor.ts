import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** A way to use the system as one customer. */
export interface Access {
  /** Runs code. Returns all that came out of it. */
  code(code: string): Promise<string>;
  /** Everything else that can be asked, with what others were told: handles, tokens, ids of runs. */
  ask(told: readonly string[]): Promise<string>;
  /** Leaves and comes again, as far as the entrance knows of that. */
  comeAgain(): Promise<void>;
  close(): Promise<void>;
}

/** A customer with a secret, which nobody else may come by. */
export interface Visitor {
  id: string;
  /** In files, state, output, values, logs, skills. */
  canary: string;
  /** A value that is kept from models: a token stands for it. */
  address: string;
  /** Tokens and handles that it was shown, which could be of use to others. */
  told: string[];
  access: Access;
}

const TOKEN = /\[\[[A-Z_]+:[a-z2-7]+\]\]/gu;
const HANDLE = /\/workspace\/results\/[\w.-]+/gu;
/** Larger than what an answer holds, so that it is kept as a result. */
const REPEATS = 3_000;

/** A customer with secrets of its own. */
export function makeVisitor(id: string, access: Access): Visitor {
  const secret = randomBytes(9).toString("hex");
  return { id, canary: `canary-${secret}`, address: `${secret}@customer-secret.example`, told: [], access };
}

/** Leaves the customer's canaries in all places that one can. */
export async function plant(visitor: Visitor, home: string | undefined): Promise<void> {
  const { canary, address, access } = visitor;
  const text = JSON.stringify(canary);
  const shown = await access.code(`
    import { send } from "./servers/post/index.ts";
    await Deno.writeTextFile("/workspace/note.txt", ${text});
    await Deno.mkdir("/workspace/deep/er", { recursive: true });
    await Deno.writeTextFile("/workspace/deep/er/note.txt", ${text});
    await Deno.writeTextFile("/workspace/state.json", JSON.stringify({ canary: ${text} }));
    globalThis.left = ${text};
    await send({ from: ${JSON.stringify(visitor.id)}, text: ${JSON.stringify(address)} });
    console.log(${text}, ${JSON.stringify(address)});
    return ${text} + ${JSON.stringify(address)};`);
  const large = await access.code(`return ${text}.repeat(${REPEATS});`);
  const tokens = shown.match(TOKEN) ?? [];
  if (tokens.length === 0 || shown.includes(address)) throw new Error(`Nothing was planted: ${shown}`);
  visitor.told.push(...new Set([...tokens, ...(large.match(HANDLE) ?? [])]));
  if (home === undefined) return;
  for (const part of ["auth", "vault", "cache"]) {
    await mkdir(path.join(home, part), { recursive: true, mode: 0o700 });
    await writeFile(path.join(home, part, "canary.json"), text, { mode: 0o600 });
  }
}

/** All that a customer can come by who looks for what is of others. */
export async function look(visitor: Visitor, others: readonly Visitor[], root: string): Promise<string> {
  // Encoded: code in which the tokens of others stand is refused before it runs.
  const told = [visitor, ...others].flatMap((one) => one.told);
  const ids = others.map(({ id }) => id);
  const found = await visitor.access.code(`
    import { send } from "./servers/post/index.ts";
    const seen = [globalThis.left];
    const read = (path) => { try { seen.push(Deno.readTextFileSync(path).slice(0, 300)); } catch {} };
    const visit = (at, depth) => {
      try {
        for (const one of Deno.readDirSync(at)) {
          const path = at + "/" + one.name;
          seen.push(one.name);
          if (one.isDirectory && depth < 5 && !path.includes("servers")) visit(path, depth + 1);
          else read(path);
        }
      } catch {}
    };
    const root = ${JSON.stringify(root)};
    const roots = ["/workspace", "/tmp", "..", "../..", "../../..", root, "/proc/self/cwd/../.."];
    for (const id of ${JSON.stringify(ids)}) roots.push(root + "/" + id, "../../" + id, "/workspace/../" + id);
    for (const at of roots) visit(at, 0);
    for (const id of ${JSON.stringify(ids)}) {
      for (const to of [root + "/" + id, "../../" + id]) {
        for (const part of ["workspace/note.txt", "usage.json", "sessions/session_001.json", "auth/canary.json", "vault/canary.json", "cache/canary.json"]) {
          read(to + "/" + part);
          try { Deno.symlinkSync(to + "/" + part, "/workspace/away"); read("/workspace/away"); } catch {}
          try { Deno.removeSync("/workspace/away"); } catch {}
          try { Deno.linkSync(to + "/" + part, "/workspace/hard"); read("/workspace/hard"); } catch {}
          try { Deno.removeSync("/workspace/hard"); } catch {}
        }
      }
    }
    for (const token of JSON.parse(atob(${JSON.stringify(btoa(JSON.stringify(told)))}))) {
      try { seen.push(await send({ from: ${JSON.stringify(visitor.id)}, text: token })); } catch (error) { seen.push(String(error).slice(0, 100)); }
      read(token);
    }
    return [...new Set(seen)].join("\\n").slice(0, 30_000);`);
  return `${found}\n${await visitor.access.ask(told)}`;
}
