import { TextAreaField, TextField } from '../../ui/forms/text-field.tsx';

/** The texts of an app, as a form has them. */
export interface AppDraft {
  title: string;
  description: string;
  /** Labels, separated by commas. */
  categories: string;
  features: string;
}

/** Returns the texts for the API. Empty labels are left out. */
export function formatAppTexts({ title, description, categories, features }: AppDraft) {
  return {
    title: title.trim(),
    description: description.trim(),
    categories: splitText(categories, ','),
    features: splitText(features, ','),
  };
}

/** Returns the lines of a change log. Empty lines are left out. */
export function splitChanges(text: string): string[] {
  return splitText(text, '\n');
}

function splitText(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The fields of the texts that every account sees. */
export function AppFields({ draft, onChange }: { draft: AppDraft; onChange: (draft: AppDraft) => void }) {
  return (
    <>
      <TextField label="Title" value={draft.title} onChange={(title) => onChange({ ...draft, title })} />
      <TextAreaField
        label="Description"
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
      />
      <TextField
        label="Categories"
        help="Separated by commas, such as ports, planning."
        value={draft.categories}
        onChange={(categories) => onChange({ ...draft, categories })}
      />
      <TextField
        label="Features"
        help="Separated by commas."
        value={draft.features}
        onChange={(features) => onChange({ ...draft, features })}
      />
    </>
  );
}
