/** The OTEL_ variables. */
import { expect, test } from 'vitest';
import { ConfigError } from '../config-error.ts';
import { readTracingSettings } from './settings.ts';

const ON = { OTEL_TRACES_EXPORTER: 'otlp' };

test.each([
  {},
  { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'wrong' },
  { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' },
  { OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' },
])('no spans are exported with %o', (env) => {
  expect(readTracingSettings(env)).toBeNull();
});

test.each([
  [ON, 'http://localhost:4318/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c/otlp/' }, 'https://c/otlp/v1/traces'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/spans' }, 'http://c:4318/spans'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b/x' },
    'http://b/x',
  ],
])('the address of the receiver with %o is %s', (env, url) => {
  expect(readTracingSettings(env)?.url).toBe(url);
});

test('the defaults are those of the specification', () => {
  expect(readTracingSettings(ON)).toEqual({
    url: 'http://localhost:4318/v1/traces',
    headers: {},
    timeoutMs: 10_000,
    compression: 'none',
    tls: {},
    serviceName: 'switchyard',
    resourceAttributes: {},
    sampler: { ratio: 1, isParentBased: true },
    batch: { delayMs: 5000, queueSize: 2048, size: 512, timeoutMs: 30_000 },
  });
});

test('a variable of traces counts before the one of all signals', () => {
  const settings = readTracingSettings({
    ...ON,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20a%3D,x=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x=2',
    OTEL_EXPORTER_OTLP_TIMEOUT: '5000',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '700',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_CERTIFICATE: '/ca.pem',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,team=a%2Cb',
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
  });
  expect(settings).toMatchObject({
    headers: { authorization: 'Basic a=', x: '2' },
    timeoutMs: 700,
    compression: 'gzip',
    tls: { ca: '/ca.pem' },
    serviceName: 'other',
    resourceAttributes: { team: 'a,b' },
    batch: { queueSize: 10, size: 10 },
  });
});

test.each([
  ['always_on', undefined, { ratio: 1, isParentBased: false }],
  ['parentbased_always_off', undefined, { ratio: 0, isParentBased: true }],
  ['traceidratio', '0.25', { ratio: 0.25, isParentBased: false }],
  ['parentbased_traceidratio', undefined, { ratio: 1, isParentBased: true }],
])('the sampler %s with the argument %s', (name, argument, sampler) => {
  const env = { ...ON, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument };
  expect(readTracingSettings(env)?.sampler).toEqual(sampler);
});

test.each([
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://collector'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http/json'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '0'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'br'],
  ['OTEL_RESOURCE_ATTRIBUTES', 'team'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_BSP_SCHEDULE_DELAY', '5s'],
])('the error for %s="%s" names it, and no credential', (name, value) => {
  const read = () => readTracingSettings({ ...ON, [name]: value });
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(new RegExp(`^${name} .*\\.$`));
  expect(read).not.toThrow(/secret|%zz/);
});

test('the error for a share of traces that is not from 0 to 1', () => {
  const env = { ...ON, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' };
  expect(() => readTracingSettings(env)).toThrow(/^OTEL_TRACES_SAMPLER_ARG is "2"/);
});
