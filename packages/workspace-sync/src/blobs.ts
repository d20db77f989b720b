/** Where the pieces of one workspace's files are. Names are letters, digits, `-`, `_` and `.`. */
export interface BlobStore {
  readonly specificationVersion: "v1";
  /** Where it is, for people. Without user and password. */
  readonly location: string;
  read(name: string): Promise<Uint8Array | undefined>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** The names of all pieces. */
  names(): AsyncIterable<string>;
}
