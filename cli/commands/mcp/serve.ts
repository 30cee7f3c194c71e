/** The MCP server: lists and calls tools with the rights of the caller's key, over standard input and output. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { ApiError, type Client } from '@switchyard/contract/client.ts';
import { hasRight, type Right, type Role } from '@switchyard/contract/roles.ts';
import { formatError } from '../../errors/report-error.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { JsonSchema } from './json-schema.ts';
import { RUN_TOOLS } from './run-tools.ts';
import { getRight, listOperationTools, type OperationTool, splitArguments } from './tools.ts';

interface ServeOptions {
  version: string;
  /** true: offer only the tools that change nothing. */
  readOnly: boolean;
}

/** A tool of either kind. */
interface Tool {
  name: string;
  description: string;
  inputSchema: JsonSchema;
  right: Right;
  isReadOnly: boolean;
  call(args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Content[]>;
}

const INSTRUCTIONS =
  'Tools of a Switchyard server, which runs decision apps. An application has versions and instances; a run executes an instance on an input. Create a run with create_run, wait with wait_for_run, then read get_run and get_run_output. Results that are long arrive as files.';

/** A larger result is a file. */
const INLINE_CHARS_MAX = 20_000;
const PREVIEW_CHARS = 1000;
const FILES_MAX = 200;

/** Serves until standard input ends or the signal aborts. */
export async function serveMcp(
  client: Client,
  { in: input, out, signal }: Terminal,
  { version, readOnly }: ServeOptions,
): Promise<void> {
  const { body: account } = await client.call('getAccount');
  const files = new ResultFiles();
  try {
    const server = createServer(listTools(client, files, account.key.role, readOnly), files, version);
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        out.write(chunk);
        done();
      },
    });
    await server.connect(new StdioServerTransport(input, output));
    const ends = new AbortController();
    const end = AbortSignal.any([signal, ends.signal]);
    await once(input, 'end', { signal: end }).catch(() => {});
    await server.close();
  } finally {
    files.close();
  }
}

/** Returns the tools that the role may call. */
function listTools(client: Client, files: ResultFiles, role: Role, readOnly: boolean): Tool[] {
  const ofOperations = listOperationTools().map(
    (tool): Tool => ({
      name: tool.name,
      description: `${tool.operation.summary}. ${tool.operation.description}`,
      inputSchema: tool.inputSchema,
      right: getRight(tool),
      isReadOnly: tool.isReadOnly,
      call: (args, signal) => callOperation(client, files, tool, { args, signal }),
    }),
  );
  const ofRuns = RUN_TOOLS.map(
    (tool): Tool => ({
      ...{ name: tool.name, description: tool.description, inputSchema: tool.inputSchema },
      ...{ right: 'read', isReadOnly: true },
      call: async (args, signal) =>
        files.present(tool.name, JSON.stringify(await tool.run(client, args, signal), null, 1)),
    }),
  );
  return [...ofOperations, ...ofRuns].filter(
    ({ right, isReadOnly }) => hasRight(role, right) && (isReadOnly || !readOnly),
  );
}

async function callOperation(
  client: Client,
  files: ResultFiles,
  tool: OperationTool,
  { args, signal }: { args: Readonly<Record<string, unknown>>; signal: AbortSignal },
): Promise<Content[]> {
  const { status, body, headers } = await client.callUntyped(tool.id, {
    ...splitArguments(tool, args),
    signal,
  });
  if (body === undefined) return [{ type: 'text', text: `Done (${status}).` }];
  if (typeof body === 'string') return files.present(tool.name, body, 'text/plain');
  if (!(body instanceof ReadableStream)) return files.present(tool.name, JSON.stringify(body, null, 1));
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  const mimeType = headers.get('content-type') ?? 'application/octet-stream';
  return [{ type: 'resource_link', ...files.store(tool.name, bytes, mimeType) }];
}

function createServer(tools: readonly Tool[], files: ResultFiles, version: string): Server {
  const server = new Server(
    { name: 'switchyard', version },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema, isReadOnly }) => ({
      ...{ name, description },
      inputSchema: { ...inputSchema, type: 'object' as const },
      annotations: { readOnlyHint: isReadOnly, destructiveHint: name === 'cancel_run' },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (!tool)
      throw new McpError(
        ErrorCode.InvalidParams,
        `There is no tool ${params.name}, or the role of the key does not allow it.`,
      );
    try {
      return { content: await tool.call(params.arguments ?? {}, signal) };
    } catch (error) {
      return { isError: true, content: [{ type: 'text' as const, text: describeError(error) }] };
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: files.list() }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => {
    const found = files.read(params.uri);
    if (!found) throw new McpError(ErrorCode.InvalidParams, `There is no result ${params.uri}.`);
    const { file, content } = found;
    const isText = file.mimeType === 'application/json' || file.mimeType.startsWith('text/');
    const { uri, mimeType } = file;
    return {
      contents: [
        isText
          ? { uri, mimeType, text: content.toString() }
          : { uri, mimeType, blob: content.toString('base64') },
      ],
    };
  });
  return server;
}

/** The sentence of the server with its status, from which an agent sees whether another request could succeed. */
function describeError(error: unknown): string {
  if (error instanceof ApiError) return `The server refused with status ${error.status}: ${error.reason}`;
  return formatError(error);
}

/** A stored result. */
interface ResultFile {
  uri: string;
  name: string;
  mimeType: string;
  size: number;
}

/** The part of a tool's response that an agent reads. */
type Content = { type: 'text'; text: string } | ({ type: 'resource_link' } & ResultFile);

/**
 * The files of one session, which only the user can read; `close` removes them. An agent pays for each character of a
 * response, so it gets the beginning and a reference, and reads from the file what it needs.
 */
class ResultFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'switchyard-mcp-'));
  readonly #files = new Map<string, { path: string; file: ResultFile }>();
  #count = 0;

  /** Returns the text itself, or for a long one its beginning and a link to a file with all of it. */
  present(name: string, text: string, mimeType = 'application/json'): Content[] {
    if (text.length <= INLINE_CHARS_MAX) return [{ type: 'text', text }];
    const file = this.store(name, text, mimeType);
    const preview = text.slice(0, PREVIEW_CHARS);
    return [
      {
        type: 'text',
        text: `The result has ${file.size} bytes. All of it is in ${file.uri}. It begins:\n${preview}`,
      },
      { type: 'resource_link', ...file },
    ];
  }

  /** Stores content as a file. The oldest file goes when there are too many. */
  store(name: string, content: string | Uint8Array, mimeType: string): ResultFile {
    this.#count += 1;
    const extension = mimeType === 'application/json' ? 'json' : mimeType.startsWith('text/') ? 'txt' : 'bin';
    const path = join(this.#folder, `${this.#count}-${name}.${extension}`);
    writeFileSync(path, content, { mode: 0o600 });
    const size = Buffer.byteLength(content);
    const file = { uri: pathToFileURL(path).href, name: `${name} ${this.#count}`, mimeType, size };
    this.#files.set(file.uri, { path, file });
    const [oldest] = this.#files;
    if (this.#files.size > FILES_MAX && oldest) {
      rmSync(oldest[1].path, { force: true });
      this.#files.delete(oldest[0]);
    }
    return file;
  }

  list(): ResultFile[] {
    return [...this.#files.values()].map(({ file }) => file);
  }

  /** Returns the content of a stored result; undefined for any other address, so that no other file is read. */
  read(uri: string): { file: ResultFile; content: Buffer } | undefined {
    const found = this.#files.get(uri);
    return found && { file: found.file, content: readFileSync(found.path) };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
