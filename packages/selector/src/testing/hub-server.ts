import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";

/** A request that the hub got. */
interface HubRequest {
  method: string;
  path: string;
  range: string | undefined;
}

/** A local server with the paths of a model hub. */
export interface HubServer extends AsyncDisposable {
  url: string;
  requests: HubRequest[];
  /** Faults by the file's path in the repository, which replace serving it. */
  faults: Map<string, HubFault>;
  /** Whether its answers tell the commit. */
  tellsCommit: boolean;
}

/** A status to answer with; other content; or the connection ends after half of the file, or stays open. */
type HubFault = number | Uint8Array | "breaks" | "stalls";

const PATH = /^\/((?:[\w.-]+\/)?[\w.-]+)\/resolve\/([^/]+)\/(.+)$/u;
const STORED = "/stored/";

/**
 * Starts a server that answers HEAD and GET, with ranges, for `/NAME/resolve/REVISION/FILE`. As the hub does, it leads from
 * weights to where they are stored.
 *
 * @param folders - The folders of the models, by name.
 * @param commit - The commit that every revision stands for.
 */
export async function startHubServer(
  folders: Readonly<Record<string, string>>,
  commit: string,
): Promise<HubServer> {
  const hub = { requests: [] as HubRequest[], faults: new Map<string, HubFault>(), tellsCommit: true };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://hub");
    const method = request.method ?? "GET";
    hub.requests.push({ method, path: pathname, range: request.headers.range });
    if (hub.tellsCommit) response.setHeader("x-repo-commit", commit);
    const isStored = pathname.startsWith(STORED);
    const [, name = "", , file = ""] =
      PATH.exec(isStored ? pathname.slice(STORED.length - 1) : pathname) ?? [];
    const folder = folders[name];
    const fault = hub.faults.get(file);
    const content = folder === undefined ? undefined : await readContent(path.join(folder, file));
    if (typeof fault === "number" || content === undefined) {
      response.writeHead(typeof fault === "number" ? fault : 404).end();
      return;
    }
    if (file.endsWith(".onnx") && !isStored) {
      response.writeHead(302, { location: `${STORED.slice(0, -1)}${pathname}` }).end();
      return;
    }
    send(request, response, fault instanceof Uint8Array ? Buffer.from(fault) : content, fault);
  };

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(hub, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  fault: HubFault | undefined,
): void {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/u.exec(request.headers.range ?? "") ?? [];
  const start = Number(from ?? 0);
  const end = to === undefined || to === "" ? content.length - 1 : Math.min(Number(to), content.length - 1);
  const part = content.subarray(start, end + 1);
  response.writeHead(from === undefined ? 200 : 206, {
    "content-length": part.length,
    "accept-ranges": "bytes",
    ...(from === undefined ? {} : { "content-range": `bytes ${start}-${end}/${content.length}` }),
  });
  if (request.method === "HEAD") response.end();
  else if (fault === "breaks" || fault === "stalls") {
    response.write(part.subarray(0, part.length >> 1), () => {
      if (fault === "breaks") response.destroy();
    });
  } else response.end(part);
}

async function readContent(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(() => undefined);
}
