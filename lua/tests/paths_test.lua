-- The package `paths` of Torch7: names, folders, and files that are named relative to a program.

local harness = require("harness")
local ffi = require("ffi")
local torch = require("thorn")
local paths = require("paths")

local equal, check, fails = harness.equal, harness.check, harness.fails
local tests = {}

ffi.cdef("int symlink(const char *target, const char *path); int chdir(const char *path);")

local function write(path, text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
end

local function exists(path)
    local file = io.open(path)
    return file ~= nil and file:close()
end

local function sorted(iterator)
    local names = {}
    for name in iterator do names[#names + 1] = name end
    table.sort(names)
    return names
end

-- Calls `f` with the path of a new folder: files "a.lua" and "b.txt", and a folder "sub" with a file "c.lua".
local function with_folder(f)
    local folder = os.tmpname()
    os.remove(folder)
    check(os.execute("mkdir '" .. folder .. "' '" .. folder .. "/sub'") == 0)
    write(folder .. "/a.lua", "return ...")
    write(folder .. "/b.txt", "b")
    write(folder .. "/sub/c.lua", "return 'c', require('paths').thisfile('d.txt')")
    local ok, problem = pcall(f, folder)
    os.execute("rm -rf '" .. folder .. "'")
    if not ok then error(problem, 0) end
end

function tests.names_are_parts_of_paths()
    for path, parts in pairs({
        ["a/b/c.lua"] = { "c.lua", "a/b" },
        ["/a"] = { "a", "/" },
        ["/a/b//"] = { "b", "/a" },
        ["a"] = { "a", "." },
        [""] = { "", "." },
        ["/"] = { "", "/" },
        ["a//b"] = { "b", "a/" },
    }) do
        equal({ paths.basename(path), paths.dirname(path) }, parts)
    end
    equal(paths.basename("a/b.tar.gz", "gz"), "b.tar")
    equal(paths.basename("a/b.tar.gz", ".tar.gz"), "b")
    equal(paths.basename("a/b.lua", "txt"), "b.lua")
    equal(paths.basename("a/blua", "lua"), "blua")
    equal(paths.basename("a/b.", ""), "b.")
    equal(paths.extname("a/b.tar.gz"), "gz")
    equal(paths.extname("b."), "")
    equal(paths.extname("b"), nil)
end

function tests.long_names_take_little_time()
    local slashes = ("/"):rep(2e6)
    equal(paths.basename(slashes .. "a"), "a")
    equal(paths.dirname(slashes .. "a"), ("/"):rep(2e6 - 1))
    equal(paths.concat(("/a"):rep(1e6), ("../"):rep(1e6)), "/")
    equal(paths.filep(slashes), false)
    equal(paths.mkdir(("a/"):rep(1e5)), nil)
end

function tests.concat_makes_absolute_paths()
    with_folder(function(folder)
        local old = paths.cwd()
        equal(ffi.C.chdir(folder), 0)
        local cwd, none, joined, number = paths.cwd(), paths.concat(), paths.concat("a", "./b//", "../c", ""), paths.concat("a", 5)
        equal(ffi.C.chdir(old), 0)
        equal(paths.basename(cwd), paths.basename(folder))
        equal(none, cwd)
        equal(joined, cwd .. "/a/c")
        equal(number, cwd .. "/a/5")
    end)
    equal(paths.concat("a", "/b/", "c"), "/b/c")
    equal(paths.concat("/a/../../.."), "/")
    equal(paths.concat("/..."), "/...")
    fails("bad argument #2 to 'concat' (string expected, got no value)", paths.concat, "a", nil)
    fails("bad argument #1 to 'concat' (string without zero bytes expected)", paths.concat, "a\0b")
end

function tests.kinds_of_files()
    with_folder(function(folder)
        ffi.C.symlink("sub", folder .. "/link")
        ffi.C.symlink("missing", folder .. "/dangling")
        for name, expected in pairs({
            ["/a.lua"] = { true, false },
            ["/sub"] = { false, true },
            ["/sub/"] = { false, true },
            ["/link"] = { false, true },
            ["/dangling"] = { false, false },
            ["/missing"] = { false, false },
            ["/a.lua/x"] = { false, false },
        }) do
            equal({ paths.filep(folder .. name), paths.dirp(folder .. name) }, expected)
        end
    end)
    equal({ paths.filep(""), paths.dirp("") }, { false, false })
    equal({ paths.filep("/"), paths.dirp("/") }, { false, true })
    fails("bad argument #1 to 'filep' (string expected, got no value)", paths.filep)
    fails("bad argument #1 to 'dirp' (string expected, got table)", paths.dirp, {})
end

function tests.folders_are_listed()
    with_folder(function(folder)
        local names = paths.dir(folder)
        table.sort(names)
        equal(names, { ".", "..", "a.lua", "b.txt", "sub" })
        equal(sorted(paths.files(folder)), names)
        equal(sorted(paths.files(folder, "%.lua$")), { "a.lua" })
        equal(sorted(paths.files(folder, function(name) return #name == 3 end)), { "sub" })
        equal(sorted(paths.iterfiles(folder)), { "a.lua", "b.txt" })
        equal(sorted(paths.iterdirs(folder)), { "sub" })
        equal(paths.dir(folder .. "/a.lua"), nil)
        equal(sorted(paths.files(folder .. "/missing")), {})
        local long = ("n"):rep(255)
        write(folder .. "/sub/" .. long, "")
        for i = 1, 999 do write(folder .. "/sub/" .. i, "") end
        equal(#sorted(paths.iterfiles(folder .. "/sub")), 1001)
        equal(sorted(paths.files(folder .. "/sub", "^n")), { long })
        fails("bad argument #2 to 'files' (string or function expected, got number)", paths.files, folder, 5)
    end)
    fails("bad argument #1 to 'iterdirs' (string expected, got no value)", paths.iterdirs)
end

function tests.folders_are_made_and_removed()
    with_folder(function(folder)
        local deep = folder .. "/x/it's; a $(name)/z/"
        equal(paths.mkdir(deep), true)
        equal(paths.dirp(deep), true)
        local done, problem, code = paths.mkdir(deep)
        equal({ done == nil, problem, code }, { true, deep .. ": File exists", 17 })
        equal(paths.mkdir(folder .. "/new/../other/y"), true)
        equal({ paths.dirp(folder .. "/new"), paths.dirp(folder .. "/other/y") }, { true, true })
        equal(paths.mkdir(folder .. "/a.lua/x"), nil)
        equal(paths.mkdir(""), nil)
        equal(paths.rmdir(folder .. "/x"), nil)
        equal(paths.rmdir(folder .. "/a.lua"), nil)
        equal(paths.rmdir(deep), true)
        equal(paths.dirp(deep), false)
        check(exists(folder .. "/a.lua"))
    end)
    fails("bad argument #1 to 'mkdir' (string expected, got no value)", paths.mkdir)
end

function tests.rmall_removes_trees_but_follows_no_links()
    with_folder(function(folder)
        paths.mkdir(folder .. "/tree/one/two")
        write(folder .. "/tree/one/two/file", "")
        ffi.C.symlink(folder .. "/sub", folder .. "/tree/one/link")
        ffi.C.symlink(folder .. "/sub", folder .. "/top")
        equal(paths.rmall(folder .. "/tree"), nil)
        equal(paths.rmall(folder .. "/tree", "no"), nil)
        check(exists(folder .. "/tree/one/two/file"))
        equal(paths.rmall(folder .. "/tree", "yes"), true)
        equal(paths.dirp(folder .. "/tree"), false)
        equal(paths.rmall(folder .. "/top/", "yes"), true)
        check(exists(folder .. "/sub/c.lua"))
        equal(paths.rmall(folder .. "/b.txt", "yes"), true)
        check(not exists(folder .. "/b.txt"))
        local done, problem, where = paths.rmall(folder .. "/missing", "yes")
        equal({ done == nil, problem, where }, { true, folder .. "/missing: No such file or directory", folder .. "/missing" })
    end)
    equal(paths.rmall("", "yes"), nil)
    fails("bad argument #1 to 'rmall' (string without zero bytes expected)", paths.rmall, "a\0b", "yes")
end

function tests.temporary_files_are_removed_at_the_end()
    local name, other = paths.tmpname(), paths.tmpname()
    check(name ~= other and not exists(name))
    equal(paths.mkdir(name), true)
    equal(paths.rmdir(name), true)
    local program = "package.path = " .. ("%q"):format(package.path) .. " require('torch')"
        .. " local name = paths.tmpname() io.open(name, 'w'):close() print(name)"
    write(other, program)
    local first = -1
    while arg[first - 1] do first = first - 1 end
    local pipe = io.popen(("'%s' '%s'"):format(arg[first], other))
    local left = pipe:read("*l")
    pipe:close()
    check(left and left:match("^/") and not exists(left))
    os.remove(other)
end

function tests.files_beside_the_caller()
    with_folder(function(folder)
        local at = paths.concat(folder)
        local function run(text, ...) return assert(loadstring(text, "@" .. folder .. "/sub/program.lua"))(...) end
        equal(run("local r = (...).thisfile() return r", paths), at .. "/sub/program.lua")
        equal(run("local r = (...).thisfile('../a.lua') return r", paths), at .. "/a.lua")
        equal(run("local r = (...).thisfile('/x/y') return r", paths), "/x/y")
        equal({ run("local a, b = (...).dofile('c.lua') return a, b", paths) }, { "c", at .. "/sub/d.txt" })
        local function outer() return (paths.dofile("c.lua", 3)) end
        equal(run("local r = (...)() return r", outer), "c")
        equal(assert(loadstring("local r = (...).thisfile() return r", "=text"))(paths), nil)
        equal(assert(loadstring("local r = (...).thisfile('n') return r", "=text"))(paths), "n")
        equal(paths.thisfile("n", 1e6), "n")
        fails("dofile: cannot open " .. at .. "/sub/missing.lua", run, "local r = (...).dofile('missing.lua')", paths)
    end)
    equal(paths.basename(paths.thisfile()), "paths_test.lua")
    fails("bad argument #1 to 'dofile' (string expected, got no value)", paths.dofile)
    fails("bad argument #1 to 'thisfile' (string expected, got table)", paths.thisfile, {})
end

function tests.programs_and_systems()
    local shell = paths.findprogram("no such program", "sh")
    check(shell:match("^/.*/sh$") and exists(shell))
    equal(paths.findprogram("no such program"), nil)
    equal(paths.findprogram(), nil)
    local pipe = io.popen("uname -s; uname -n; uname -m")
    local lines = sorted(pipe:lines())
    pipe:close()
    local names = { paths.uname() }
    table.sort(names)
    equal(names, lines)
    equal(paths.uname(), ffi.os == "OSX" and "Darwin" or ffi.os)
    equal({ paths.is_win(), paths.is_mac() }, { ffi.os == "Windows", ffi.os == "OSX" })
    equal(paths.home, os.getenv("HOME") or ".")
    if ffi.os == "Linux" then check(#sorted(paths.files(paths.execdir(), "lua")) > 0) end
end

function tests.require_finds_an_installed_package_first()
    check(package.loaded.paths == paths and rawget(_G, "paths") == paths)
    equal(paths.require("thorn") == torch, true)
    fails("module 'no.such.module' not found", paths.require, "no.such.module")
    fails("bad argument #1 to 'require' (string expected, got table)", paths.require, {})
    local old = package.path
    with_folder(function(folder)
        write(folder .. "/paths.lua", "return { installed = ... }")
        package.path, package.loaded.paths = folder .. "/?.lua;" .. old, nil
        local ok, found = pcall(require, "paths")
        package.path, package.loaded.paths = old, paths
        check(ok, found)
        equal(found.installed, "paths")
    end)
end

harness.run(tests)
