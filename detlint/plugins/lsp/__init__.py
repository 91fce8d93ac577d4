"""The language server: findings and fixes in an editor, as the user types.

Only this part imports pygls.

    server, session                  what the client sends and asks, and the process; one client's state
    worker, progress                 the thread that analyses; how far that is
    documents, projects, options     what is open, as files; the projects that it belongs to; the editor's settings
    ranges, diagnostics, hover       places as ranges; findings as diagnostics; a rule's page
    actions, editing                 what is offered at a place; changed texts as edits
"""
