/** What the tests use of it; the package brings no types. */
declare module '@20minutes/s3rver' {
  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      directory: string;
      silent: boolean;
      vhostBuckets: boolean;
      configureBuckets: { name: string }[];
    });
    run(): Promise<{ port: number }>;
    readonly store: FilesystemStore;
  }

  interface StoredObject {
    bucket: string;
    key: string;
    content: unknown;
    metadata: unknown;
  }

  interface FilesystemStore {
    getResourcePath(bucket: string, key: string, resource: 'object'): string;
    getObject(bucket: string, key: string, range?: unknown): Promise<unknown>;
    putObject(object: StoredObject): Promise<{ size: number; md5: string }>;
    putContent(path: string, content: unknown): Promise<[size: number, md5: string]>;
    putMetadata(bucket: string, key: string, metadata: unknown, md5: string): Promise<void>;
  }
}
