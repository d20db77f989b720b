/** A value that is created at its first use. A failed creation is forgotten, so that the next use tries again. */
export class Lazy<T> {
  readonly #create: () => Promise<T>;
  #pending: Promise<T> | undefined;
  #current: T | undefined;

  constructor(create: () => Promise<T>) {
    this.#create = create;
  }

  /** Whether the value has been created, or is being created. */
  get isStarted(): boolean {
    return this.#pending !== undefined;
  }

  /** The value, once it has been created. */
  get current(): T | undefined {
    return this.#current;
  }

  /**
   * Returns the value and creates it if need be. Concurrent calls share one creation.
   *
   * @throws whatever the creation throws.
   */
  get(): Promise<T> {
    this.#pending ??= this.#attempt();
    return this.#pending;
  }

  /** Waits for a creation under way. Resolves to `undefined` when there is no value; creates none. */
  async settled(): Promise<T | undefined> {
    await this.#pending?.catch(() => undefined);
    return this.#current;
  }

  async #attempt(): Promise<T> {
    try {
      return (this.#current = await this.#create());
    } catch (error) {
      this.#pending = undefined;
      throw error;
    }
  }
}
