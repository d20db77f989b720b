/** What is asked of elements inside a page. The types of a browser are no part of this program. */
export interface PageElement {
  localName: string;
  type?: unknown;
  name?: unknown;
  value?: unknown;
  checked?: boolean;
  multiple?: boolean;
  disabled?: boolean;
  readOnly?: boolean;
  maxLength?: number;
  isContentEditable?: boolean;
  innerText?: string;
  parentElement?: PageElement | null;
  labels?: Iterable<PageElement> | null;
  files?: Iterable<{ name: string }> | null;
  options?: Iterable<{ value: string; label: string; selected: boolean }>;
  validity?: Readonly<Record<string, boolean>>;
  getAttribute(name: string): string | null;
  checkVisibility(options: { visibilityProperty: boolean }): boolean;
}
