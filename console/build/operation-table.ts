/**
 * Replaces the contract's operations in the scripts of the browser by the facts that the console needs: method, path,
 * statuses and kinds of content. The whole operations contain the schemas and texts of the API, which are 200 kB of script.
 */
import { join } from 'node:path';
import type { Operation } from '@switchyard/contract/operation.ts';
import { operations } from '@switchyard/contract/operations.ts';
import type { Plugin } from 'vite';
import { OPERATION_TITLES } from '../pages/audit/operation-titles.ts';

const TABLE_ID = '\0operation-table';
const OPERATIONS_PATH = join(import.meta.dirname, '..', '..', 'contract', 'operations.ts');
const TITLES_PATH = join(import.meta.dirname, '..', 'pages', 'audit', 'operation-titles.ts');

/** Returns the facts of an operation that `createClient` reads; a schema becomes `true`. */
function describeOperation({ method, path, right, body, responses }: Operation) {
  return {
    method,
    path,
    right,
    ...(body?.stream ? { body: { stream: true } } : {}),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, { schema, contentType }]) => [
        status,
        { ...(schema ? { schema: true } : {}), ...(contentType ? { contentType } : {}) },
      ]),
    ),
  };
}

/** Returns the module that stands in for `contract/operations.ts`. */
function writeTable(): string {
  const table = Object.fromEntries(
    Object.values<Operation>(operations).map((operation) => [operation.id, describeOperation(operation)]),
  );
  return writeConstant('operations', table);
}

function writeConstant(name: string, value: object): string {
  return `export const ${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))});`;
}

/** The plugin of the console's build that puts the table in the place of the operations, and their titles into the page that needs them. */
export function operationTable(): Plugin {
  return {
    name: 'operation-table',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!source.endsWith('/operations.ts')) return null;
      const resolved = await this.resolve(source, importer, { skipSelf: true });
      return resolved?.id === OPERATIONS_PATH ? TABLE_ID : null;
    },
    load(id) {
      if (id === TITLES_PATH) return writeConstant('OPERATION_TITLES', OPERATION_TITLES);
      return id === TABLE_ID ? writeTable() : null;
    },
  };
}
