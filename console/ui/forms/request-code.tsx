import { CodeSamples } from './code-samples.tsx';
import { formatCommand } from './command-line.ts';
import { type FormRequest, formatCurl } from './curl.ts';
import { formatPython } from './python.ts';

/** The request of a form as commands and as a Python program. */
export function RequestCode({ request }: { request: FormRequest }) {
  return (
    <CodeSamples
      command={formatCommand(request)}
      curl={formatCurl(...request)}
      python={formatPython(request)}
    />
  );
}
