import { CodeSamples } from './code-samples.tsx';
import { type FormRequest, formatCurl } from './curl.ts';
import { formatPython } from './python.ts';

/** The request of a form as a command and as a Python program. */
export function RequestCode({ request }: { request: FormRequest }) {
  return <CodeSamples curl={formatCurl(...request)} python={formatPython(request)} />;
}
