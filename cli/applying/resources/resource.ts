/** A resource of the file: what the server has, and what it should have. */

/** Fields of a resource as JSON. Maps and nested objects are compared field by field. */
export type Fields = Readonly<Record<string, unknown>>;

export interface Resource {
  kind:
    | 'application'
    | 'default instances'
    | 'retention'
    | 'quotas'
    | 'secrets collection'
    | 'instance'
    | 'webhook';
  /** The application; absent for resources of the account. */
  application?: string;
  id: string;
  /** true: the resource should not exist. */
  isRemoved: boolean;
  /** Returns the fields of the server; undefined if there is no such resource. */
  read(): Promise<Fields | undefined>;
  /** Returns the fields that the resource should have, from those of the server. */
  merge(current: Fields | undefined): Fields;
  create(fields: Fields): Promise<void>;
  update(fields: Fields): Promise<void>;
  remove(): Promise<void>;
  /** Why the values of the field are not printed; undefined for fields that may be printed. */
  isSecret?(field: string): boolean;
  /** The file or variable of this machine that the value of the field is read from; undefined for values of the file itself. */
  findSource?(field: string): string | undefined;
}
