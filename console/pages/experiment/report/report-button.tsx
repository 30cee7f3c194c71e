import { useRef } from 'react';
import { Button } from '../../../ui/button.tsx';
import { saveFile } from '../../../ui/content/save-file.ts';
import { formatReport } from './format-report.ts';

/** Saves the page around it, up to the element with `data-report`, as one HTML file. */
export function ReportButton({ title, file }: { title: string; file: string }) {
  const anchor = useRef<HTMLSpanElement>(null);
  const save = () => {
    const page = anchor.current?.closest('[data-report]');
    if (!page) return;
    const html = formatReport(page, { title, address: location.href });
    saveFile(`${file}.html`, html, 'text/html');
  };
  return (
    <span ref={anchor}>
      <Button onPress={save}>Report</Button>
    </span>
  );
}
