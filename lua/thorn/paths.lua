-- Torch7's package `paths`: names of files, and functions for folders. `require "paths"` returns it.
--
-- The slash separates the names in a path. On Windows a backslash in an argument becomes a slash, and folders cannot be listed.

local bit = require("bit")
local ffi = require("ffi")
local arguments = require("thorn.arguments")
local errors = require("thorn.errors")

local C, IS_WINDOWS = ffi.C, ffi.os == "Windows"
local ENOENT, EACCES, ERANGE = 2, 13, 34
local IS_FOLDER, NO_FILE = 0x10, 0xFFFFFFFF

-- The members of the C library's `struct dirent`, the length of a field of its `struct utsname`, and the end of the names of its functions
-- with this `struct dirent`.
local SYSTEMS = {
    Linux = { entry = "uint64_t inode; int64_t offset; uint16_t length; uint8_t type; char name[256];", field = 65, suffix = "" },
    OSX = {
        entry = "uint64_t inode; uint64_t offset; uint16_t length; uint16_t name_length; uint8_t type; char name[1024];",
        field = 256,
        suffix = ffi.arch == "x64" and "$INODE64" or "",
    },
}
local system = ffi.abi("64bit") and SYSTEMS[ffi.os]

ffi.cdef((([[
    int thorn_mkdir(const char *path, int mode) __asm__("{_}mkdir");
    int thorn_rmdir(const char *path) __asm__("{_}rmdir");
    char *thorn_getcwd(char *buffer, size_t size) __asm__("{_}getcwd");
    char *thorn_strerror(int code) __asm__("strerror");
    int thorn_access(const char *path, int mode) __asm__("access");
    intptr_t thorn_readlink(const char *path, char *buffer, size_t size) __asm__("readlink");
    int thorn_uname(char *fields) __asm__("uname");
    uint32_t GetFileAttributesA(const char *path);
]]):gsub("{_}", IS_WINDOWS and "_" or "")))

if system then
    ffi.cdef(([[
        typedef struct thorn_entry { %s } thorn_entry;
        void *thorn_opendir(const char *path) __asm__("opendir%s");
        thorn_entry *thorn_readdir(void *folder) __asm__("readdir%s");
        int thorn_closedir(void *folder) __asm__("closedir");
    ]]):format(system.entry, system.suffix, system.suffix))
end

local paths = {}

-- Checks a path. A number becomes a string, as in Torch7.
local function checked(path, position, name)
    if type(path) == "number" then path = tostring(path) end
    if type(path) ~= "string" then arguments.expected("string", path, position, name) end
    if path:find("\0", 1, true) then errors.argument(position, name, "string without zero bytes expected") end
    return IS_WINDOWS and path:gsub("\\", "/") or path
end

-- Returns true, or nil with the last error of the C library.
local function outcome(done, path)
    if done then return true end
    local code = ffi.errno()
    return nil, path .. ": " .. ffi.string(C.thorn_strerror(code)), code
end

-- Returns "folder", "file" for anything else that exists, or nil. Only a folder has the entry ".".
local function kind(path)
    if IS_WINDOWS then
        local attributes = C.GetFileAttributesA(path)
        return attributes ~= NO_FILE and (bit.band(attributes, IS_FOLDER) ~= 0 and "folder" or "file") or nil
    end
    if C.thorn_access(path, 0) ~= 0 then return nil end
    return (C.thorn_access(path .. "/.", 0) == 0 or ffi.errno() == EACCES) and "folder" or "file"
end

--- True if the path names something that is not a folder.
function paths.filep(path) return kind(checked(path, 1, "filep")) == "file" end

--- True if the path names a folder.
function paths.dirp(path) return kind(checked(path, 1, "dirp")) == "folder" end

--- Returns the last name of a path, without the suffix if one is given: `basename("a/b.lua", "lua")` is "b".
function paths.basename(path, suffix)
    local name = checked(path, 1, "basename"):reverse():match("^/*([^/]*)"):reverse()
    local ending = "." .. (suffix == nil and "" or checked(suffix, 2, "basename"):gsub("^%.", ""))
    return #ending > 1 and name:sub(-#ending) == ending and name:sub(1, -#ending - 1) or name
end

local function folder_of(path)
    local folder = path:reverse():match("^/*[^/]+/(.*)$")
    if folder then return folder == "" and "/" or folder:reverse() end
    return path:sub(1, 1) == "/" and path or "."
end

--- Returns the path of the folder that contains this path: `dirname("a/b/c")` is "a/b".
function paths.dirname(path) return folder_of(checked(path, 1, "dirname")) end

--- Returns the text after the last period; nil if there is no period.
function paths.extname(path) return checked(path, 1, "extname"):match("%.([^.]*)$") end

--- Returns the path of the current folder; "." if it has none.
function paths.cwd()
    local size = 256
    repeat
        size = size * 2
        local buffer = ffi.new("char[?]", size)
        if C.thorn_getcwd(buffer, size) ~= nil then return checked(ffi.string(buffer), 1, "cwd") end
    until ffi.errno() ~= ERANGE
    return "."
end

-- Appends paths to the current folder. An absolute path replaces all before it. The names "." and ".." are resolved.
local function join(...)
    local cwd = paths.cwd()
    local root, names = cwd == "." and "." or "", {}
    for _, part in ipairs({ cwd, ... }) do
        local drive, rest = part:match("^(%a:)(.*)$")
        if IS_WINDOWS and drive then
            root, part, names = drive, rest, {}
        elseif part:sub(1, 1) == "/" then
            root, names = IS_WINDOWS and root or "", {}
        end
        for name in part:gmatch("[^/]+") do
            if name == ".." then names[#names] = nil elseif name ~= "." then names[#names + 1] = name end
        end
    end
    return root .. "/" .. table.concat(names, "/")
end

--- Returns the absolute path of paths that are appended to the current folder: `concat("a", "../b")` is the current folder and "/b".
function paths.concat(...)
    local parts = { ... }
    for i = 1, select("#", ...) do parts[i] = checked(parts[i], i, "concat") end
    return join(unpack(parts))
end

--- Returns the names in a folder, with "." and "..", in no order; nil if the folder cannot be read.
function paths.dir(path)
    path = checked(path, 1, "dir")
    if not system then errors.raise("dir: folders cannot be listed on " .. ffi.os) end
    local folder, names = C.thorn_opendir(path), {}
    if folder == nil then return nil end
    ffi.gc(folder, C.thorn_closedir)
    local entry = C.thorn_readdir(folder)
    while entry ~= nil do
        names[#names + 1] = ffi.string(entry.name)
        entry = C.thorn_readdir(folder)
    end
    C.thorn_closedir(ffi.gc(folder, nil))
    return names
end

-- Returns an iterator over the names of a folder for which `accept` is true.
local function select_names(path, accept)
    local names, i = paths.dir(path) or {}, 0
    return function()
        repeat i = i + 1 until names[i] == nil or accept(names[i])
        return names[i]
    end
end

--- Iterates over the names of `dir`: `for name in paths.files(path) do`. A pattern or a function of the name selects names.
function paths.files(path, filter)
    path = checked(path, 1, "files")
    if type(filter) == "string" then return select_names(path, function(name) return name:find(filter) end) end
    if filter and type(filter) ~= "function" then arguments.expected("string or function", filter, 2, "files") end
    return select_names(path, filter or function() return true end)
end

--- Iterates over the names of files in a folder.
function paths.iterfiles(path)
    path = checked(path, 1, "iterfiles")
    return select_names(path, function(name) return kind(path .. "/" .. name) == "file" end)
end

--- Iterates over the names of folders in a folder, without "." and "..".
function paths.iterdirs(path)
    path = checked(path, 1, "iterdirs")
    return select_names(path, function(name) return name ~= "." and name ~= ".." and kind(path .. "/" .. name) == "folder" end)
end

-- Calls `mkdir` of C. The mode is 0777, of which the process's mask takes bits away.
local function make_one(path) return outcome(C.thorn_mkdir(path, 511) == 0, path) end

local function make_folder(path)
    local done, problem, code = make_one(path)
    local parent = folder_of(path)
    if code ~= ENOENT or parent == path then return done, problem, code end
    make_folder(parent)
    return make_one(path)
end

--- Makes a folder, and the folders above it that are missing. Returns true, or nil, a message and the number of the error.
function paths.mkdir(path) return make_folder(checked(path, 1, "mkdir")) end

--- Removes an empty folder. Returns true, or nil, a message and the number of the error.
function paths.rmdir(path)
    path = checked(path, 1, "rmdir")
    return outcome(C.thorn_rmdir(path) == 0, path)
end

local function is_link(path) return not IS_WINDOWS and C.thorn_readlink(path, ffi.new("char[1]"), 1) >= 0 end

-- `os.remove` removes files, links and empty folders. A link to a folder is never followed.
local function remove_all(path)
    local done, problem = os.remove(path)
    if done then return true end
    if is_link(path) or kind(path) ~= "folder" then return nil, problem, path end
    for name in select_names(path, function(name) return name ~= "." and name ~= ".." end) do
        local removed, why, where = remove_all(path .. "/" .. name)
        if not removed then return nil, why, where end
    end
    done, problem = paths.rmdir(path)
    if done then return true end
    return nil, problem, path
end

--- Removes a file, or a folder with all in it: `rmall(path, "yes")`. The root folder is refused. Returns
--- true, or nil, a message and the path that remains.
function paths.rmall(path, yes)
    path = checked(path, 1, "rmall"):reverse():match("^/*(.*)$"):reverse()
    if yes ~= "yes" then return nil, "rmall: argument #2 must be 'yes'", path end
    return remove_all(path)
end

local temporary = { cleaner = newproxy(true) }
getmetatable(temporary.cleaner).__gc = function()
    for _, name in ipairs(temporary) do os.remove(name) end
end

--- Returns a path that names no file. A file of this name is removed when the Lua state closes.
function paths.tmpname()
    local name = os.tmpname()
    os.remove(name)
    temporary[#temporary + 1] = name
    return name
end

--- Returns the path of the file of the calling function, or of the function at this level of `debug.getinfo`; nil if it has no file.
--- `thisfile(name)` returns the path of a file in the same folder.
function paths.thisfile(name, level)
    name = name ~= nil and checked(name, 1, "thisfile") or nil
    local info = debug.getinfo(arguments.integer(level, 2, "thisfile", 2), "S")
    local source = info and info.source:match("^@(.*)$")
    source = source and join(IS_WINDOWS and source:gsub("\\", "/") or source)
    if not source or not name then return source or name end
    return join(folder_of(source), name)
end

--- Runs a file that is named relative to the file of the calling function, or of the function at this level. Returns the file's results.
function paths.dofile(path, level)
    local file = paths.thisfile(checked(path, 1, "dofile"), 1 + arguments.integer(level, 2, "dofile", 2))
    local chunk, problem = loadfile(file)
    if not chunk then errors.raise("dofile: " .. problem) end
    return chunk()
end

--- Loads a module. If it is a library of C, all libraries see its symbols.
function paths.require(name)
    if type(name) ~= "string" then arguments.expected("string", name, 1, "require") end
    local file = not package.loaded[name] and package.searchpath(name, package.cpath)
    if file then package.loadlib(file, "*") end
    return require(name)
end

--- Returns the path of the first of these programs that is in a folder of the environment's PATH; nil if there is none.
function paths.findprogram(...)
    for i = 1, select("#", ...) do
        local program = checked((select(i, ...)), i, "findprogram")
        if IS_WINDOWS and not program:lower():find("%.exe$") then program = program .. ".exe" end
        for folder in (os.getenv("PATH") or "."):gmatch(IS_WINDOWS and "[^;]+" or "[^:]+") do
            local path = join(checked(folder, i, "findprogram"), program)
            if kind(path) == "file" then return path end
        end
    end
end

--- Returns the folder of the program that runs Lua; nil if it is not known.
function paths.execdir()
    local size = 4096
    local buffer = ffi.new("char[?]", size)
    local length = ffi.os == "Linux" and tonumber(C.thorn_readlink("/proc/self/exe", buffer, size)) or -1
    return length > 0 and folder_of(ffi.string(buffer, length)) or nil
end

--- Returns the names of the system, of this computer and of its processor; "Unknown" if the system does not tell them.
function paths.uname()
    if IS_WINDOWS then return "Windows", os.getenv("COMPUTERNAME") or "", os.getenv("PROCESSOR_ARCHITECTURE") or "" end
    local fields = system and ffi.new("char[?]", 6 * system.field)
    if not fields or C.thorn_uname(fields) < 0 then return "Unknown" end
    return ffi.string(fields), ffi.string(fields + system.field), ffi.string(fields + 4 * system.field)
end

--- True on Windows.
function paths.is_win() return IS_WINDOWS end

--- True on macOS.
function paths.is_mac() return ffi.os == "OSX" end

--- The path of the user's own folder.
paths.home = IS_WINDOWS and (os.getenv("HOMEDRIVE") or "C:") .. (os.getenv("HOMEPATH") or "\\") or os.getenv("HOME") or "."

return paths
