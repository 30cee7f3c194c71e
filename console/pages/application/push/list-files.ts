/** Lists the files that were chosen in a file field or dropped on the page. */
import type { FoundFile } from '../../../ui/push/pack-app.ts';

/** Returns the files of a file field, with their paths for a folder. */
export function listChosenFiles(files: FileList | null): FoundFile[] {
  return [...(files ?? [])].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Returns the files of a drop, also those inside of dropped folders. */
export async function listDroppedFiles(items: DataTransferItemList): Promise<FoundFile[]> {
  // The list is empty after the first await.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return (await Promise.all(entries.map((entry) => listEntry(entry)))).flat();
}

async function listEntry(entry: FileSystemEntry): Promise<FoundFile[]> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => entry.file(resolve, reject));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  if (!isDirectory(entry)) return [];
  const reader = entry.createReader();
  const children: FileSystemEntry[] = [];
  // One call returns a hundred entries at most.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) break;
    children.push(...batch);
  }
  return (await Promise.all(children.map((child) => listEntry(child)))).flat();
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
