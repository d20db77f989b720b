import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface EmbeddingsRequest {
  path: string;
  authorization: string | undefined;
  apiKey: string | undefined;
  model: string;
  input: string[];
}

export interface EmbeddingsServer extends AsyncDisposable {
  url: string;
  requests: EmbeddingsRequest[];
  /** Statuses of the first answers; `0` is an invalid answer. */
  failures: number[];
}

/** Words on one line are synonyms to the models of the tests. */
export const MEANINGS = [
  "weather forecast temperature sunny rain umbrella",
  "calculate arithmetic math number numbers add sum expression",
  "file files read write folder document notes",
  "email message letter mail inbox",
  "music song play melody tune",
  "city town place oslo paris",
].map((line) => line.split(" "));

/** Starts a server with the Embeddings API of OpenAI and Azure. Its vectors count words of each meaning. */
export async function startEmbeddingsServer(): Promise<EmbeddingsServer> {
  const requests: EmbeddingsRequest[] = [];
  const failures: number[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { model, input, encoding_format: encoding } = await readJson(request);
    const { authorization, "api-key": apiKey } = request.headers;
    requests.push({
      path: request.url ?? "",
      authorization,
      apiKey: apiKey === undefined ? undefined : String(apiKey),
      model,
      input,
    });
    const status = failures.shift() ?? 200;
    const headers = { "content-type": "application/json", "retry-after-ms": "1" };
    response.writeHead(status === 0 ? 200 : status, headers);
    // The `index` gives the order, not the position in the list.
    const data = input
      .map((text, index) => ({ object: "embedding", index, embedding: encode(vectorOf(text), encoding) }))
      .toReversed();
    const good = { object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
    const bad = { error: { message: `refused with ${status}`, type: "invalid_request_error" } };
    const content = status === 0 ? { object: "list", data: [] } : status === 200 ? good : bad;
    response.end(JSON.stringify(content));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    failures,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Body {
  model: string;
  input: string[];
  encoding_format?: string | undefined;
}

async function readJson(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Body;
}

function vectorOf(text: string): number[] {
  const words = text.toLowerCase().split(/[^a-z]+/u);
  return [...MEANINGS.map((group) => words.filter((word) => group.includes(word)).length), 0.01];
}

function encode(vector: number[], encoding: string | undefined): number[] | string {
  return encoding === "base64" ? Buffer.from(Float32Array.from(vector).buffer).toString("base64") : vector;
}
