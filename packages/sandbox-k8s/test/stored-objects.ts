import { EventEmitter } from "node:events";

/** An object of the API, as far as a server looks into it. */
export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    finalizers?: string[];
    labels?: Record<string, string>;
  };
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  handler?: string;
}

/** A change of an object, as a watch tells it. */
export interface ObjectEvent {
  type: "ADDED" | "MODIFIED" | "DELETED";
  object: StoredObject;
}

/** The objects of a test's API server, by collection, with versions and finalizers as etcd and the server keep them. */
export class StoredObjects {
  readonly #objects = new Map<string, StoredObject>();
  readonly #history: { collection: string; event: ObjectEvent }[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);
  #version = 1;

  get version(): number {
    return this.#version;
  }

  list(collection: string): StoredObject[] {
    return [...this.#objects].filter(([key]) => key.startsWith(`${collection}/`)).map(([, object]) => object);
  }

  find(collection: string, name: string): StoredObject | undefined {
    return this.#objects.get(`${collection}/${name}`);
  }

  put(collection: string, object: StoredObject): StoredObject {
    const { name } = object.metadata;
    const before = this.find(collection, name);
    const metadata = {
      uid: crypto.randomUUID(),
      creationTimestamp: new Date().toISOString(),
      ...object.metadata,
    };
    if (metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0)
      return this.#forget(collection, { ...object, metadata });
    return this.#keep(collection, { ...object, metadata }, before === undefined ? "ADDED" : "MODIFIED");
  }

  /** Deletes an object, or marks it where something else has to go first. */
  delete(collection: string, object: StoredObject, isForeground: boolean): StoredObject {
    const { metadata } = object;
    const finalizers = isForeground ? ["foregroundDeletion"] : metadata.finalizers;
    const marked = { ...metadata, finalizers, deletionTimestamp: new Date().toISOString() };
    return this.put(collection, { ...object, metadata: marked as StoredObject["metadata"] });
  }

  /** Tells the changes of a collection after a version. Returns what ends it. */
  watch(collection: string, version: number, listener: (event: ObjectEvent) => void): () => void {
    for (const { collection: changed, event } of this.#history) {
      if (changed === collection && Number(event.object.metadata.resourceVersion) > version) listener(event);
    }
    this.#events.on(collection, listener);
    return () => this.#events.off(collection, listener);
  }

  #keep(collection: string, object: StoredObject, type: ObjectEvent["type"]): StoredObject {
    const kept = this.#next(object);
    this.#objects.set(`${collection}/${kept.metadata.name}`, kept);
    this.#tell(collection, { type, object: kept });
    return kept;
  }

  #forget(collection: string, object: StoredObject): StoredObject {
    const gone = this.#next(object);
    this.#objects.delete(`${collection}/${gone.metadata.name}`);
    this.#tell(collection, { type: "DELETED", object: gone });
    return gone;
  }

  #next(object: StoredObject): StoredObject {
    this.#version += 1;
    return { ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } };
  }

  #tell(collection: string, event: ObjectEvent): void {
    this.#history.push({ collection, event });
    this.#events.emit(collection, event);
  }
}
