// Drives `detlint server` as VS Code does, by the library that speaks its protocol: node test.js COMMAND [ARGUMENT ...]
// Prints one JSON document: the findings of a text, the text after its quick fix, and the page that hovering shows.

const { spawn } = require("node:child_process");
const { mkdtempSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const lsp = require("vscode-languageserver-protocol/node");

const TEXT = "import torch\n\ntorch.manual_seed(0)\ntorch.backends.cudnn.benchmark = True\nnet = torch.nn.Conv2d(3, 8, 3).cuda()\n";

/** The text with an edit of the protocol in it. */
function edited(text, { range, newText }) {
  const starts = text.split("\n").reduce((found, line) => [...found, found.at(-1) + line.length + 1], [0]);
  const at = ({ line, character }) => starts[line] + character;
  return text.slice(0, at(range.start)) + newText + text.slice(at(range.end));
}

async function main([command, ...args]) {
  const folder = mkdtempSync(path.join(tmpdir(), "detlint-"));
  const file = path.join(folder, "train.py");
  writeFileSync(file, TEXT);
  const uri = pathToFileURL(file).href;
  const server = spawn(command, [...args, "server"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const connection = lsp.createProtocolConnection(server.stdout, server.stdin);
  const published = new Promise((resolve) =>
    connection.onNotification(lsp.PublishDiagnosticsNotification.type, (told) => {
      if (told.diagnostics.length) resolve(told.diagnostics);
    }),
  );
  connection.onRequest(lsp.ConfigurationRequest.type, ({ items }) => items.map(() => null));
  connection.onRequest(lsp.RegistrationRequest.type, () => undefined);
  connection.onRequest(lsp.WorkDoneProgressCreateRequest.type, () => undefined);
  connection.listen();
  const capabilities = {
    workspace: { configuration: true, workspaceEdit: { documentChanges: true } },
    textDocument: {
      publishDiagnostics: { relatedInformation: true },
      codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "source.fixAll"] } } },
    },
  };
  const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "project" }];
  await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri: workspaceFolders[0].uri,
    capabilities,
    workspaceFolders,
  });
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  const textDocument = { uri, languageId: "python", version: 1, text: TEXT };
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument });
  const diagnostics = await published;
  const asked = { textDocument: { uri }, range: diagnostics[0].range, context: { diagnostics } };
  const actions = await connection.sendRequest(lsp.CodeActionRequest.type, asked);
  const [{ title, edit }] = actions;
  const fixed = [...edit.documentChanges[0].edits].reverse().reduce(edited, TEXT);
  const position = diagnostics[0].range.start;
  const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri }, position });
  const findings = diagnostics.map(({ code, range }) => [code, range.start.line]);
  console.log(JSON.stringify({ findings, title, fixed, page: hover.contents.value.split("\n")[0] }));
  await connection.sendRequest(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
