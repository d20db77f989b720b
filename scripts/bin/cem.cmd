@node "%~dp0cem" %*
