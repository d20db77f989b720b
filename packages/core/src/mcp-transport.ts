/** A message of JSON-RPC. */
export type McpMessage = { jsonrpc: "2.0" } & (
  | { id: string | number; method: string; params?: Record<string, unknown> }
  | { method: string; params?: Record<string, unknown> }
  | { id: string | number; result: Record<string, unknown> }
  | { id?: string | number; error: { code: number; message: string; data?: unknown } }
);

/** Takes messages of a narrower type too, as transports of the SDK declare them. */
type Handler<Value> = { handle(value: Value): void }["handle"];

/** A connection that carries the messages of MCP. Transports of the official SDK have this shape. */
export interface McpTransport {
  start(): Promise<void>;
  send(message: McpMessage): Promise<void>;
  close(): Promise<void>;
  /** Set by the client before `start`. Called with each message of the server. */
  onmessage?: Handler<McpMessage> | undefined;
  /** Set by the client. Called once the connection is closed, by whichever side. */
  onclose?: (() => void) | undefined;
  /** Set by the client. Called with errors that did not close the connection. */
  onerror?: ((error: Error) => void) | undefined;
}

/** An MCP server to connect to. */
export interface McpTransportRequest {
  url: string;
  /** Headers from the settings of the server. */
  headers: Readonly<Record<string, string>>;
  /** Aborts when nobody waits for the connection any longer. */
  signal: AbortSignal;
}

/** Connects to MCP servers whose URLs have this provider's scheme. */
export interface McpTransportProvider {
  readonly specificationVersion: "v1";
  /** The scheme of the URLs, in lower case and without its colon: `ws`. */
  readonly scheme: string;
  connect(request: McpTransportRequest): McpTransport | Promise<McpTransport>;
}
