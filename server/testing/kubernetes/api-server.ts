/**
 * A double of the API server of Kubernetes: Jobs and Secrets of a namespace over HTTP. It validates each body against the
 * schemas of the OpenAPI document of Kubernetes, refuses unknown fields, and checks what the schemas cannot say. No pod
 * runs: a test sets the status of a Job, its pods and the events, in the types of the client.
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { CoreV1Event, V1Pod } from '@kubernetes/client-node';
import { Ajv } from 'ajv';
import { listenOnFreePort } from '../http/receiver.ts';

const TOKEN = 'token-of-the-service-account';
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const PAGE_SIZE_MAX = 2;

interface KubernetesObject {
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; uid?: string };
  spec?: { suspend?: boolean; template: { spec: { restartPolicy?: string; containers: Container[] } } };
  status?: object;
  stringData?: Record<string, string>;
}

const KINDS = ['jobs', 'secrets', 'pods', 'events'] as const;
type Kind = (typeof KINDS)[number];
const PATH = /^\/(?:apis\/batch\/v1|api\/v1)\/namespaces\/([^/]+)\/([a-z]+)(?:\/([^/]+))?$/;
const LISTS: Record<Kind, { kind: string; apiVersion: string }> = {
  jobs: { kind: 'JobList', apiVersion: 'batch/v1' },
  secrets: { kind: 'SecretList', apiVersion: 'v1' },
  pods: { kind: 'PodList', apiVersion: 'v1' },
  events: { kind: 'EventList', apiVersion: 'v1' },
};

/** The fields that the selectors of a list compare. */
interface SelectableObject {
  metadata?: { labels?: Record<string, string> };
  type?: string;
}

interface Container {
  name: string;
  image?: string;
  args?: string[];
  env?: { name: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
}

export interface KubernetesApi {
  /** A kubeconfig file's content for the server. */
  readonly kubeconfig: string;
  readonly jobs: Map<string, KubernetesObject>;
  readonly secrets: Map<string, KubernetesObject>;
  readonly pods: V1Pod[];
  readonly events: CoreV1Event[];
  /** The kinds that the service account may not list. */
  readonly forbidden: Set<string>;
  /** Queries of the deletions. */
  readonly deletions: URLSearchParams[];
  /** The answers to the next lists, as those of a proxy before the API server. */
  readonly proxied: object[];
  close(): Promise<void>;
}

class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

const schemas = JSON.parse(readFileSync(join(import.meta.dirname, 'schemas.json'), 'utf8'));
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const compile = (name: string) => ajv.compile({ ...schemas, $ref: `#/$defs/${name}` });
const validators = {
  jobs: compile('io.k8s.api.batch.v1.Job'),
  secrets: compile('io.k8s.api.core.v1.Secret'),
  deletion: compile('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'),
};

/** Starts the double on a free port; it serves one namespace. */
export async function startKubernetesApi(namespace: string): Promise<KubernetesApi> {
  const api: Omit<KubernetesApi, 'kubeconfig' | 'close'> = {
    ...{ jobs: new Map(), secrets: new Map(), pods: [], events: [], forbidden: new Set(), deletions: [] },
    proxied: [],
  };
  const server = createServer((request, response) => {
    void respond(request, response, { namespace, ...api });
  });
  const { port, close } = await listenOnFreePort(server);
  return { ...api, kubeconfig: formatKubeconfig(`http://127.0.0.1:${port}`), close };
}

const formatKubeconfig = (server: string): string =>
  JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    // Without it the client refuses plain HTTP.
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: TOKEN } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  });

type State = Omit<KubernetesApi, 'kubeconfig' | 'close'> & { namespace: string };

async function respond(request: IncomingMessage, response: ServerResponse, state: State): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  try {
    const [code, body] = handle(request, text, state);
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  } catch (error) {
    const code = error instanceof Refusal ? error.code : 500;
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: String(error), code };
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  }
}

function handle(request: IncomingMessage, text: string, state: State): [number, object] {
  if (request.headers.authorization !== `Bearer ${TOKEN}`) throw new Refusal(401, 'Unauthorized');
  const url = new URL(request.url ?? '', 'http://localhost');
  const match = PATH.exec(url.pathname);
  const kind = KINDS.find((one) => one === match?.[2]);
  const name = match?.[3];
  if (!match || !kind || url.pathname.startsWith('/apis/') !== (kind === 'jobs'))
    throw new Refusal(404, 'the server could not find the requested resource');
  if (match[1] !== state.namespace)
    throw new Refusal(403, `${kind} is forbidden: cannot access the namespace "${match[1]}"`);
  const proxied = request.method === 'GET' ? state.proxied.shift() : undefined;
  if (proxied) return [200, proxied];
  if (state.forbidden.has(kind)) throw new Refusal(403, `${kind} is forbidden: cannot list resource`);
  if (kind === 'pods' || kind === 'events') {
    if (request.method !== 'GET' || name !== undefined)
      throw new Refusal(403, `${kind} is forbidden: only a list is allowed`);
    return [200, list(kind, state[kind], url.searchParams)];
  }
  const objects = state[kind];
  const body = text === '' ? null : JSON.parse(text);
  if (request.method === 'GET' && name === undefined)
    return [200, list(kind, [...objects.values()], url.searchParams)];
  if (request.method === 'POST' && name === undefined) {
    const object = admit(kind, body, state);
    if (objects.has(object.metadata.name))
      throw new Refusal(409, `${kind} "${object.metadata.name}" already exists`);
    return [201, store(objects, object)];
  }
  if (name === undefined || !objects.has(name)) throw new Refusal(404, `${kind} "${name}" not found`);
  if (request.method === 'PUT') return [200, store(objects, admit(kind, body, state))];
  if (request.method !== 'DELETE') throw new Refusal(405, 'the method is not allowed');
  if (body !== null) check('deletion', body);
  state.deletions.push(url.searchParams);
  objects.delete(name);
  return [200, { kind: 'Status', apiVersion: 'v1', status: 'Success' }];
}

function check(kind: keyof typeof validators, body: unknown): void {
  const validate = validators[kind];
  if (!validate(body)) throw new Refusal(422, `${kind} is invalid: ${ajv.errorsText(validate.errors)}`);
}

/** Checks the object by its schema and by the rules of the API server that no schema has. */
function admit(kind: 'jobs' | 'secrets', body: unknown, { namespace, secrets }: State): KubernetesObject {
  check(kind, body);
  const object = body as KubernetesObject;
  const { name, namespace: named = namespace, labels = {} } = object.metadata;
  if (!NAME.test(name)) throw new Refusal(422, `metadata.name: Invalid value: "${name}"`);
  if (named !== namespace) throw new Refusal(400, 'the namespace of the object does not match the request');
  for (const value of Object.values(labels))
    if (!/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/.test(value))
      throw new Refusal(422, `metadata.labels: Invalid value: "${value}"`);
  const pod = object.spec?.template.spec;
  if (pod && pod.restartPolicy !== 'Never' && pod.restartPolicy !== 'OnFailure')
    throw new Refusal(422, `spec.template.spec.restartPolicy: Required value`);
  for (const { image, env = [] } of pod?.containers ?? []) {
    if (!image) throw new Refusal(422, 'spec.template.spec.containers[0].image: Required value');
    for (const { valueFrom } of env) {
      const reference = valueFrom?.secretKeyRef;
      // A pod with such a reference would not start.
      if (reference && secrets.get(reference.name)?.stringData?.[reference.key] === undefined)
        throw new Refusal(422, `secret "${reference.name}" not found`);
    }
  }
  return object;
}

let objectCount = 0;

function store(objects: Map<string, KubernetesObject>, object: KubernetesObject): KubernetesObject {
  objectCount += 1;
  const stored = { ...object, metadata: { ...object.metadata, uid: `uid-${objectCount}` }, status: {} };
  objects.set(object.metadata.name, stored);
  return stored;
}

/** Lists the objects that both selectors choose, a few for each page. */
function list(kind: Kind, objects: readonly SelectableObject[], query: URLSearchParams): object {
  const wanted = parseSelector(query.get('labelSelector'));
  const fields = parseSelector(query.get('fieldSelector'));
  if (fields.some(([key]) => kind !== 'events' || key !== 'type'))
    throw new Refusal(400, `field label not supported: ${fields.join()}`);
  const selected = objects.filter(
    ({ metadata, type }) =>
      wanted.every(([key = '', value]) => metadata?.labels?.[key] === value) &&
      fields.every(([, value]) => type === value),
  );
  const start = Number(query.get('continue') ?? 0);
  const end = start + Math.min(PAGE_SIZE_MAX, Number(query.get('limit') ?? PAGE_SIZE_MAX));
  const metadata = end < selected.length ? { continue: String(end) } : {};
  return { ...LISTS[kind], metadata, items: selected.slice(start, end) };
}

const parseSelector = (text: string | null): string[][] =>
  (text ?? '')
    .split(',')
    .filter((part) => part !== '')
    .map((part) => part.split('='));
