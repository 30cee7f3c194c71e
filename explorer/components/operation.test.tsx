import cloud from '@switchyard/contract/openapi/cloud.json' with { type: 'json' };
import marketplace from '@switchyard/contract/openapi/marketplace.json' with { type: 'json' };
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, test } from 'vitest';
import { listOperations } from '../model/operation/read-operation.ts';
import { findMissingContent } from '../testing/missing-content.ts';
import { renderOperation } from '../testing/render-operation.tsx';
import { Operation } from './operation.tsx';

const specs = { cloud, marketplace };
const path = '/v1/applications/{application_id}/runs';

describe('messages', () => {
  test.for([
    [undefined, 'No API specified.'],
    ['', 'No API specified.'],
    ['  ', 'No API specified.'],
    ['clod', 'API specification not found.'],
    ['constructor', 'API specification not found.'],
  ] as const)('the spec %j renders "%s"', ([spec, message]) => {
    const html = renderToStaticMarkup(<Operation specs={specs} spec={spec} method="get" path={path} />);
    expect(html).toBe(`<p class="api-message">${message}</p>`);
  });

  test('an operation that the document lacks is named in a sentence', () => {
    const html = renderToStaticMarkup(<Operation specs={specs} spec="cloud" method="trace" path="/v1/<x>" />);
    expect(html).toContain('has no operation <code>TRACE /v1/&lt;x&gt;</code>');
  });
});

describe('an operation', () => {
  const html = renderToStaticMarkup(
    <Operation specs={specs} spec="cloud" method="POST" path={path} level={2} />,
  );

  test('shows method, summary, description, and codes beside the words', () => {
    expect(html).toContain('<h2 id="create-run">Create a run ');
    expect(html).toContain('<p class="api-route"><b>POST</b> <code>/v1/applications/');
    expect(html).toMatch(
      /<div class="api-words"><h2[\s\S]*<\/div><div class="api-codes"><h3>Request<\/h3>[\s\S]*curl -X POST[\s\S]*<h3>Response<\/h3>[\s\S]*&quot;run_id&quot;/,
    );
    expect(html).toContain('Without <code>instance_id</code>, the default');
  });

  test('shows parameters by location, nested body fields, and responses with an example', () => {
    expect(html).toMatch(
      /Path parameters[\s\S]*application_id[\s\S]*Query parameters[\s\S]*instance_id[\s\S]*Header parameters[\s\S]*Idempotency-Key/,
    );
    expect(html).toContain('<li class="api-field" id="create-run.body.configuration.queuing.priority">');
    expect(html).toContain('<summary>Fields of <code>queuing</code></summary>');
    expect(html).toMatch(/<details class="api-response" id="create-run.202">[\s\S]*run_id/);
    expect(html).toContain('<span class="api-required"> required</span>');
  });

  test('has no script, handler, form or frame', () => {
    expect(html).not.toMatch(/<script|\son[a-z]+=|<form|<input|<iframe/);
  });
});

test('the variants of a value stand on one track, and the fields of items follow at once', () => {
  const item = { type: 'object', description: 'A stop.', properties: { place: { type: 'string' } } };
  const variants = [
    { title: 'Ride', ...item },
    { title: 'Walk', ...item },
  ];
  const schema = { properties: { legs: { oneOf: variants }, stops: { type: 'array', items: item } } };
  const content = { 'application/json': { schema } };
  const { html } = renderOperation({ paths: { '/a': { post: { requestBody: { content } } } } }, 'post', '/a');
  expect(html).toMatch(/<ul class="api-fields api-one"><li[^>]*><p class="api-line"><em>Ride<\/em>/);
  expect(html).toContain(
    '<details class="api-more" id="post-a.body.stops[]"><summary>Items of <code>stops</code> <span class="api-type">object</span></summary><p class="api-text">A stop.</p><ul class="api-fields"><li class="api-field" id="post-a.body.stops[].place">',
  );
});

describe('a hostile document', () => {
  const payload = '<img src=x onerror=alert(1)>[x](javascript:alert(1))';
  const document = {
    paths: {
      '/<b>': {
        get: {
          summary: payload,
          description: payload,
          externalDocs: { url: 'javascript:alert(1)', description: payload },
          parameters: [
            {
              name: '"><script>',
              in: 'query',
              description: payload,
              example: payload,
              schema: { enum: [payload] },
            },
          ],
          responses: {
            '"><script>': {
              description: payload,
              content: { [payload]: { schema: { title: payload, properties: { [payload]: {} } } } },
            },
          },
        },
      },
    },
  };

  test('is shown as text', () => {
    const { html } = renderOperation(document, 'get', '/<b>');
    expect(html).not.toMatch(/<img|<script|href="javascript/i);
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });
});

describe('our own documents', () => {
  test.for(Object.entries(specs))(
    'all content of %s is shown, and every link has a target',
    ([, document]) => {
      for (const { method, path: at } of listOperations(document)) {
        const { html } = renderOperation(document, method, at);
        expect(findMissingContent(document, { method, path: at }, html), `${method} ${at}`).toEqual([]);
        const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const [, target = ''] of html.matchAll(/ href="#([^"]*)"/g))
          expect(ids).toContain(decodeURIComponent(target));
        expect(html).not.toContain('class="api-fault"');
      }
    },
  );

  test('findMissingContent finds missing content', () => {
    const document = {
      paths: { '/a': { get: { description: 'Seen.', responses: { 200: { description: 'Unseen.' } } } } },
    };
    expect(findMissingContent(document, { method: 'get', path: '/a' }, '<p>Seen.</p>')).toEqual([
      'responses: 200',
      'description: Unseen.',
    ]);
  });
});
