/** Schemas of the output of a run, or of its error. */
import Type from 'typebox';
import { nullable, objectSchema } from '../schemas/field-schemas.ts';
import { runFields } from './run-schemas.ts';

const ErrorLog = Type.Object(
  {
    error: Type.String({ description: 'Why the run failed or was canceled.' }),
    stdout: Type.String({
      description: 'The last 64 KiB of stdout, when stdout is not the output.',
    }),
    stderr: Type.String({ description: 'The last 64 KiB of the log.' }),
  },
  { $id: 'ErrorLog', description: 'Error and logs of a failed or canceled run.' },
);

const outputFields = {
  output: Type.Optional(nullable(objectSchema('The output; with `format=url`, an object with a `url`.'))),
  error_log: Type.Optional(ErrorLog),
};

export const RunResult = Type.Object(
  { ...runFields, ...outputFields },
  { $id: 'RunResult', description: 'A run with its output.' },
);
export const RunOutput = Type.Object(
  {
    ...outputFields,
    url: Type.Optional(
      Type.String({ description: 'With `format=url`: a URL to GET without a token, within 10 minutes.' }),
    ),
  },
  { $id: 'RunOutput', description: 'The output or the error of a run.' },
);
