import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { applicationSearchQuery } from '../../client/applications.ts';
import { listItems } from '../../client/list-items.ts';
import { operationQuery } from '../../client/queries.ts';
import { ChoiceEditor } from '../../ui/filters/choice-editor.tsx';
import { FilterChips } from '../../ui/filters/filter-chips.tsx';
import { AUDITED_OPERATIONS, titleOperation } from './audited-operations.ts';
import { AUDIT_FILTERS, type AuditSearch } from './search.ts';

type FilterName = keyof AuditSearch;

interface EditorProps {
  value: string[];
  onChange: (values: string[]) => void;
}

const EDITORS: Record<FilterName, (props: EditorProps) => React.ReactNode> = {
  operation: (props) => (
    <ChoiceEditor {...props} isSingle choices={AUDITED_OPERATIONS} labelOf={titleOperation} />
  ),
  resource: ApplicationEditor,
  key_id: KeyEditor,
};

/** The filters of the audit log as chips. */
export function AuditFilters({ filters }: { filters: AuditSearch }) {
  const [edited, setEdited] = useState<FilterName>();
  const navigate = useNavigate();
  const change = (name: FilterName, value: string | undefined) =>
    void navigate({ to: '/account/audit', search: { ...filters, [name]: value } });
  return (
    <FilterChips
      filters={AUDIT_FILTERS.map(({ name, label }) => {
        const value = filters[name] ?? '';
        return { name, label, text: name === 'operation' ? titleOperation(value) : value };
      })}
      edited={edited}
      onEdit={setEdited}
      onRemove={(name) => change(name, undefined)}
      renderEditor={(name) => {
        const Editor = EDITORS[name];
        return (
          <Editor
            value={[filters[name] ?? ''].filter(Boolean)}
            onChange={([value]) => {
              setEdited(undefined);
              change(name, value);
            }}
          />
        );
      }}
    />
  );
}

function ApplicationEditor(props: EditorProps) {
  const [text, setText] = useState('');
  const { data } = useQuery({ ...applicationSearchQuery(text), placeholderData: (before) => before });
  return <NamedEditor {...props} items={data?.items ?? []} onSearch={setText} />;
}

function KeyEditor(props: EditorProps) {
  const { data = [] } = useQuery(operationQuery('listKeys'));
  return <NamedEditor {...props} items={listItems(data)} />;
}

interface NamedEditorProps extends EditorProps {
  items: readonly { id: string; name: string }[];
  onSearch?: (text: string) => void;
}

/** Chooses one of the resources by its name, or a deleted one by its id. */
function NamedEditor({ items, ...props }: NamedEditorProps) {
  return (
    <ChoiceEditor
      {...props}
      isSingle
      mayType
      choices={items.map(({ id }) => id)}
      labelOf={(choice) => items.find(({ id }) => id === choice)?.name ?? choice}
    />
  );
}
