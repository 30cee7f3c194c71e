/**
 * A receiver of spans, as a collector has one: an HTTP server on loopback that decodes OTLP in protobuf. It has its own
 * decoder, so that an error of the encoder does not go unnoticed.
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto
 */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { createReceivedList, listenOnFreePort } from './receiver.ts';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty for the first span of a trace. */
  parentSpanId: string;
  traceState: string;
  name: string;
  /** 1 internal, 2 server. */
  kind: number;
  /** In milliseconds since the epoch. */
  startedAt: number;
  endedAt: number;
  attributes: Record<string, unknown>;
  /** 0 unset, 2 error. */
  status: number;
  statusMessage: string;
  resource: Record<string, unknown>;
}

export interface OtlpReceiver {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** All bodies that were received, as they were sent. */
  readonly bodies: readonly Buffer[];
  readonly headers: readonly IncomingHttpHeaders[];
  /** Waits until the condition holds for the received spans, and returns its result. */
  until<T>(condition: (spans: readonly ReceivedSpan[]) => T | null | undefined | false): Promise<T>;
  close(): Promise<void>;
}

interface ReceiverOptions {
  /** false: it reads every request and responds to none. */
  responds?: boolean;
  /** The certificate of a receiver with HTTPS. */
  tls?: { certificate: string; key: string };
}

/** Starts a receiver. */
export async function startOtlpReceiver({
  responds = true,
  tls,
}: ReceiverOptions = {}): Promise<OtlpReceiver> {
  const spans = createReceivedList<ReceivedSpan>();
  const bodies: Buffer[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const receive: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      bodies.push(body);
      headers.push(request.headers);
      if (request.url === '/v1/traces') spans.add(...decodeRequest(body));
      if (responds) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  };
  const server = tls
    ? createTlsServer({ cert: tls.certificate, key: tls.key }, receive)
    : createServer(receive);
  const { port, close } = await listenOnFreePort(server);
  return {
    endpoint: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    spans: spans.items,
    bodies,
    headers,
    until: spans.until,
    close,
  };
}

/** The fields of a message by their numbers: integers, and bytes for everything else. */
type Message = Map<number, (bigint | Buffer)[]>;

const VARINT = 0n;
const FIXED_64 = 1n;
const LENGTH = 2n;
const FIXED_32 = 5n;

function decodeMessage(bytes: Buffer): Message {
  const message: Message = new Map();
  let offset = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(bytes.readUInt8(offset));
      offset += 1;
      value |= (byte & 0x7fn) << shift;
      if ((byte & 0x80n) === 0n) return value;
    }
  };
  const readBytes = (count: number): Buffer => {
    offset += count;
    return bytes.subarray(offset - count, offset);
  };
  const readField = (type: bigint): bigint | Buffer => {
    if (type === VARINT) return readVarint();
    if (type === FIXED_64) return readBytes(8);
    if (type === FIXED_32) return readBytes(4);
    if (type !== LENGTH) throw new Error(`Protobuf has no type ${type}.`);
    return readBytes(Number(readVarint()));
  };
  while (offset < bytes.length) {
    const tag = readVarint();
    const number = Number(tag >> 3n);
    message.set(number, [...(message.get(number) ?? []), readField(tag & 7n)]);
  }
  return message;
}

function listMessages(message: Message, number: number): Message[] {
  return listBytes(message, number).map(decodeMessage);
}

function listBytes(message: Message, number: number): Buffer[] {
  return (message.get(number) ?? []).filter((value) => typeof value !== 'bigint');
}

const readText = (message: Message, number: number, encoding: 'utf8' | 'hex' = 'utf8'): string =>
  listBytes(message, number)[0]?.toString(encoding) ?? '';

const readInteger = (message: Message, number: number): number => Number(message.get(number)?.[0] ?? 0);

const readTime = (message: Message, number: number): number =>
  Number(listBytes(message, number)[0]?.readBigUInt64LE() ?? 0n) / 1e6;

/** A list of KeyValue. */
function readAttributes(message: Message, number: number): Record<string, unknown> {
  return Object.fromEntries(
    listMessages(message, number).map((pair) => {
      const [value = new Map()] = listMessages(pair, 2);
      return [readText(pair, 1), readValue(value)];
    }),
  );
}

/** An AnyValue: text, a boolean, an integer or a double. */
function readValue(value: Message): unknown {
  if (value.has(2)) return readInteger(value, 2) === 1;
  if (value.has(3)) return readInteger(value, 3);
  if (value.has(4)) return listBytes(value, 4)[0]?.readDoubleLE();
  return readText(value, 1);
}

function decodeRequest(body: Buffer): ReceivedSpan[] {
  return listMessages(decodeMessage(body), 1).flatMap((resourceSpans) => {
    const [resource = new Map()] = listMessages(resourceSpans, 1);
    const attributes = readAttributes(resource, 1);
    return listMessages(resourceSpans, 2)
      .flatMap((scopeSpans) => listMessages(scopeSpans, 2))
      .map((span) => decodeSpan(span, attributes));
  });
}

function decodeSpan(span: Message, resource: Record<string, unknown>): ReceivedSpan {
  const [status = new Map()] = listMessages(span, 15);
  return {
    traceId: readText(span, 1, 'hex'),
    spanId: readText(span, 2, 'hex'),
    traceState: readText(span, 3),
    parentSpanId: readText(span, 4, 'hex'),
    name: readText(span, 5),
    kind: readInteger(span, 6),
    startedAt: readTime(span, 7),
    endedAt: readTime(span, 8),
    attributes: readAttributes(span, 9),
    status: readInteger(status, 3),
    statusMessage: readText(status, 2),
    resource,
  };
}
