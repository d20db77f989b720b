/** How a program prints anything but plain data. */
export interface Printing {
  string(text: string): string;
  /** Text of anything else that is no object. */
  primitive(value: unknown): string;
  /** Text of an object that is not printed by its members. */
  named(value: object): string | undefined;
  /** The name of an object's class; empty for a plain object. */
  className(value: object): string;
  /** Bytes of a longer list are counted, not shown. */
  maxShownBytes: number;
}
