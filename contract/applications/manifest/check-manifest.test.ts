import { expect, test } from 'vitest';
import { checkManifest } from './check-manifest.ts';
import { ActivatedManifest, convertManifest, Manifest, PackedManifest } from './manifest.ts';

const HEAD = { type: 'python', runtime: 'python:3.11', files: ['main.py'] };
const withOption = (option: unknown) => ({ configuration: { options: { items: [option] } } });

/** As the published client writes it: absent fields are left out, and some have their defaults. */
const WRITTEN = {
  ...HEAD,
  python: { 'pip-requirements': 'requirements.txt', version: '3.11' },
  ...{ build: { command: 'make', environment: { LEVEL: 3, FAST: true } }, 'pre-push': 'make test' },
  configuration: {
    options: {
      strict: false,
      validation: { enforce: 'none' },
      items: [
        {
          ...{ name: 'mode', option_type: 'string', default: 'a', description: '', required: false },
          local_only: false,
          additional_attributes: { values: ['a', 'b'] },
          ui: { control_type: 'multiselect', hidden_from: ['operator'], display_name: 'Mode' },
        },
      ],
      format: ['-{{name}}', '{{value}}'],
    },
    content: {
      format: 'multi-file',
      'multi-file': { input: { path: 'in' }, output: { metrics: 'm.json', solutions: 'out' } },
    },
  },
  execution: { entrypoint: './app.py', cwd: './src/' },
};

test.each<[string, object]>([
  ['the fields that are required', {}],
  ['every field that the published client writes', WRITTEN],
  ['nulls', { python: null, execution: { entrypoint: null }, configuration: { options: null } }],
  ['a list of requirements', { python: { pip_requirements: ['numpy==2.0'] } }],
  ['a number as the version', { python: { version: 3.12 } }],
  ['a model', { python: { model: { name: 'm', options: [] } } }],
  ['the type of an option by either name', withOption({ name: 'n', type: 'int' })],
  [
    'a template of options as in the API',
    { configuration: { options: { format: { template: ['{{value}}'] } } } },
  ],
  [
    'an objective and indicators',
    { objective: { name: 'cost', direction: 'minimize' }, indicators: { km: { unit: 'km' } } },
  ],
  ['a name and a description', { name: 'Routing', description: 'Plans routes.' }],
])('%s: no mistake and no warning', (_, fields) => {
  expect(checkManifest(Manifest, { ...HEAD, ...fields })).toMatchObject({ warnings: [] });
});

test.each<[object, string]>([
  [{ type: 'ruby' }, 'type is "ruby"; it must be one of node, python, go, java, binary.'],
  [{ type: null }, 'type is missing; it is required.'],
  [{ runtime: 'go' }, 'runtime is "go", 2 characters long; it must have 3 to 256 characters.'],
  [{ files: 'main.py' }, 'files is "main.py"; it must be a list.'],
  [{ files: [] }, 'files has 0 items; it must have at least 1.'],
  [{ files: [{ a: 1 }] }, 'files.0 is a JSON object; it must be text.'],
  [{ build: ['go', 'build'] }, 'build is a JSON array of 2; it must be a map.'],
  [{ build: { environment: { A: [1] } } }, 'build.environment.A is a JSON array of 1'],
  [{ 'pre-push': ['make'] }, 'pre-push is a JSON array of 1; it must be text.'],
  [{ python: 'requirements.txt' }, 'python is "requirements.txt"; it must be a map.'],
  [
    { python: { 'pip-requirements': [{ a: 1 }] } },
    'python.pip-requirements.0 is a JSON object; it must be text.',
  ],
  [{ python: { 'pip-requirements': 1 } }, 'python.pip-requirements is 1; it must be text or a list.'],
  [{ python: { arch: 'x64' } }, 'python.arch is "x64"; it must be one of arm64, amd64.'],
  [{ python: { version: '2.7' } }, 'python.version is "2.7"; give this: a version such as "3.11".'],
  [{ execution: 'main.py' }, 'execution is "main.py"; it must be a map.'],
  [{ execution: { cwd: 'x'.repeat(1025) } }, '1025 characters long; it must have 0 to 1024 characters.'],
  [{ configuration: { options: ['a'] } }, 'configuration.options is a JSON array of 1; it must be a map.'],
  [withOption({ type: 'int' }), 'configuration.options.items.0.name is missing; it is required.'],
  [withOption({ name: 'a', ui: { hidden_from: ['king'] } }), 'items.0.ui.hidden_from.0 is "king"'],
  [
    { configuration: { options: { format: Array(17).fill('a') } } },
    'options.format has 17 items; it must have',
  ],
  [{ objective: { name: 'cost', direction: 'min' } }, 'objective.direction is "min"'],
  [{ indicators: { ['x'.repeat(256)]: {} } }, 'indicators has a name with 256 characters'],
  [{ configuration: { content: { format: 'xml' } } }, 'configuration.content.format is "xml"'],
])('a mistake is named: $1', (fields, words) => {
  expect(checkManifest(Manifest, { ...HEAD, ...fields })).toEqual({ error: expect.stringContaining(words) });
});

test.each<[object, string]>([
  [
    { excution: {} },
    'app.yaml: excution is not a field of the manifest and has no effect; did you mean execution?',
  ],
  [
    { entrypoint: 'main.py' },
    'entrypoint is not a field of the manifest and has no effect; did you mean execution.entry',
  ],
])('%j is accepted with a warning', (fields, words) => {
  expect(checkManifest(Manifest, { ...HEAD, ...fields })).toMatchObject({
    warnings: [expect.stringContaining(words)],
  });
});

test('an archive needs no files, and one that is activated neither type nor runtime', () => {
  const { files: _, ...packed } = HEAD;
  expect(checkManifest(Manifest, packed)).toEqual({ error: 'app.yaml: files is missing; it is required.' });
  expect(checkManifest(PackedManifest, packed)).toMatchObject({ manifest: packed });
  expect(checkManifest(PackedManifest, {})).toEqual({ error: 'app.yaml: type is missing; it is required.' });
  expect(checkManifest(ActivatedManifest, {})).toEqual({ manifest: {}, warnings: [] });
});

test('the requirements take fields of the request first, then those of the manifest', () => {
  const checked = checkManifest(Manifest, WRITTEN);
  if ('error' in checked) throw new Error(checked.error);
  const requested = { executable_type: 'node', runtime: 'node:26', entrypoint: 'main.mjs' } as const;
  expect(convertManifest(checked.manifest, requested)).toMatchObject({
    ...requested,
    working_directory: './src/',
    options: {
      items: [{ name: 'mode', option_type: 'string' }],
      format: { template: ['-{{name}}', '{{value}}'] },
    },
    io_configuration: { multi_file: { input_path: 'in', output_configuration: { solutions_path: 'out' } } },
  });
});
