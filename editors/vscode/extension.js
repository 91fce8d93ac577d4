// Starts `detlint server` and leaves the rest to the protocol: findings, fixes, hover.

const path = require("node:path");
const { execFile } = require("node:child_process");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const PYTHON = "ms-python.python";
const HELP = "Install detlint with its language server (pip install 'detlint[lsp]') or set detlint.path.";
const SELECTOR = [{ language: "python" }, { notebook: "jupyter-notebook", language: "python" }];

let client;
let log;

/** Whether a command can be run: [command, ...arguments]. */
function runs([command, ...args]) {
  return new Promise((resolve) => execFile(command, [...args, "--version"], (error) => resolve(!error)));
}

/** The interpreter that is selected in VS Code, or nothing. */
async function interpreter() {
  const python = vscode.extensions.getExtension(PYTHON);
  if (!python) return undefined;
  const api = python.isActive ? python.exports : await python.activate();
  return api?.environments?.getActiveEnvironmentPath?.().path;
}

/** The command that starts detlint: the setting, else that of the interpreter, else the one on PATH. */
async function command() {
  const set = vscode.workspace.getConfiguration("detlint").get("path");
  if (set) return [set];
  const found = await interpreter();
  // by -P no module of the folder takes the place of a real one; Python 3.10 knows no -P
  const own = found && path.basename(found).startsWith("python") ? [[found, "-P", "-m", "detlint"], [found, "-m", "detlint"]] : [];
  for (const each of [...own, ["detlint"]]) {
    if (await runs(each)) return each;
  }
  return undefined;
}

/** The settings that the server asks for, without the extension's own: it takes no others than it knows. */
async function settings(asked, token, next) {
  const found = await next(asked, token);
  return found.map((each) => (each ? { ...each, path: undefined } : each));
}

async function start() {
  const found = await command();
  if (!found) {
    log.appendLine(`detlint was not found. ${HELP}`);
    vscode.window.showWarningMessage(`detlint was not found. ${HELP}`);
    return;
  }
  const [name, ...args] = found;
  log.appendLine(`Starting ${[...found, "server"].join(" ")}`);
  client = new LanguageClient(
    "detlint",
    "detlint",
    { command: name, args: [...args, "server"] },
    { documentSelector: SELECTOR, outputChannel: log, middleware: { workspace: { configuration: settings } } },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    log.appendLine(String(error));
    vscode.window.showErrorMessage(`detlint's server did not start: ${error.message}. ${HELP}`);
  }
}

async function stop() {
  const stopped = client;
  client = undefined;
  await stopped?.stop();
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  log = vscode.window.createOutputChannel("detlint");
  context.subscriptions.push(
    log,
    vscode.commands.registerCommand("detlint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("detlint.path")) return restart();
    }),
  );
  await start();
  const python = vscode.extensions.getExtension(PYTHON); // which `interpreter` has activated
  const changed = python?.isActive && python.exports?.environments?.onDidChangeActiveEnvironmentPath;
  if (changed) context.subscriptions.push(changed(restart));
};

exports.deactivate = stop;
